// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "expr/random_expression.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"

namespace saltus::expr::emit_test {
namespace {

using testing::Random;

struct Fixture {
    Fixture() {
        x = g.symbol("x", Kind::position);
        y = g.symbol("y", Kind::velocity);
        a = g.symbol("a", Kind::parameter);
        b = g.symbol("b", Kind::parameter);
    }
    std::vector<Expr> symbols() const { return {x, y, a, b}; }
    Tape tape(const std::vector<Expr>& outputs) const { return Tape(g, outputs, std::array{a, b}, std::array{x, y}); }

    Graph g;
    Expr x, y, a, b;
};

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "saltus-emit-XXXXXX").string();
        const char* made = mkdtemp(pattern.data());
        if (made != nullptr) path = made;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path.empty()) std::filesystem::remove_all(path, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::filesystem::path path;
};

std::string read(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/// Every operation on variables, on parameters and on a mixture, with operands that end there and that go on.
Tape all_operations() {
    Fixture f;
    Graph& g = f.g;
    std::vector<Expr> outputs;
    const Expr p = g.add(g.unary(Op::exp, f.x), f.y), q = g.sub(g.unary(Op::tanh, f.a), f.b);
    for (int k = static_cast<int>(Op::add); k < static_cast<int>(Op::select); ++k) {
        const Op op = static_cast<Op>(k);
        if (op == Op::powi) {
            for (const int n : {-64, -5, -1, 3, 4, 7, 13, 64})
                outputs.insert(outputs.end(), {g.powi(f.x, n), g.powi(q, n)});
        } else if (operand_count(op) == 1) {
            outputs.insert(outputs.end(), {g.unary(op, f.x), g.unary(op, p), g.unary(op, q)});
        } else {
            outputs.insert(outputs.end(), {g.binary(op, f.x, f.y), g.binary(op, p, q), g.binary(op, q, f.a),
                                           g.binary(op, g.constant(2.0), p), g.binary(op, p, g.constant(1.7))});
        }
    }
    outputs.push_back(g.select(g.binary(Op::less, f.x, f.y), p, q));
    outputs.push_back(g.select(g.binary(Op::equal, f.a, f.b), f.x, f.y));
    return f.tape(outputs);
}

std::vector<Tape> tapes() {
    std::vector<Tape> all{all_operations()};
    Fixture leaves;
    const double inf = testing::infinity;
    all.push_back(
        leaves.tape({leaves.x, leaves.a, leaves.g.constant(0.1), leaves.g.constant(-0.0), leaves.g.constant(5e-324),
                     leaves.g.constant(1.7976931348623157e308), leaves.g.constant(inf), leaves.g.constant(-inf),
                     leaves.g.constant(testing::nan), leaves.x}));
    all.push_back(leaves.tape({}));
    all.push_back(Tape());
    for (std::uint64_t seed = 0; seed < 44; ++seed) {
        Random random(seed);
        Fixture f;
        const auto made = testing::random_program(random, 4, 20).build(f.g, f.symbols());
        std::vector<Expr> outputs{made.back(), made[made.size() / 2], made.back()};
        for (const Expr s : f.symbols()) outputs.push_back(Derivative(f.g, s)(made.back()));
        all.push_back(f.tape(outputs));
    }
    return all;
}

// One compilation for everything: that is most of the time this file takes. Without -fno-builtin a compiler that finds
// the argument of a library function to be constant (tanh(sign(x) - 0.3) has two) may fold it with better rounding
// than the library has.
TEST(EmittedSource, CompilesWithoutWarningsAndHasTheBitsOfTheTape) {
    const std::vector<Tape> all = tapes();
    std::string source, table;
    for (std::size_t k = 0; k < all.size(); ++k) {
        const std::string name = "f" + std::to_string(k);
        source += all[k].emit_cpp(name);
        table += "        case " + std::to_string(k) + ": return " + name + "(parameters, variables, out);\n";
    }
    source +=
        "extern \"C\" void call(int k, const double* parameters, const double* variables, double* out) {\n    switch "
        "(k) {\n" +
        table + "    }\n}\n";
    const TemporaryFolder folder;
    ASSERT_FALSE(folder.path.empty());
    const auto file = [&](const char* name) { return (folder.path / name).string(); };
    std::ofstream(file("emitted.cpp")) << source;
    std::ostringstream command;
    command << SALTUS_CXX << " -std=c++17 -O2 -ffp-contract=off -fno-builtin -Wall -Wextra -Werror -shared -fPIC -o '"
            << file("emitted.so") << "' '" << file("emitted.cpp") << "' > '" << file("log") << "' 2>&1";
    ASSERT_EQ(std::system(command.str().c_str()), 0) << read(file("log")).substr(0, 4000);

    void* library = dlopen(file("emitted.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    using Call = void (*)(int, const double*, const double*, double*);
    const Call call = reinterpret_cast<Call>(dlsym(library, "call"));
    ASSERT_NE(call, nullptr);

    int finite = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Tape& tape = all[k];
        Random random(k);
        std::vector<double> scratch(tape.slot_count()), expected(tape.output_count()), out(tape.output_count());
        for (int i = 0; i < 300; ++i) {
            std::vector<double> parameters(tape.parameter_count()), variables(tape.variable_count());
            const auto value = [&] { return random.once_in(6) ? random.extreme() : random.moderate(); };
            for (double& v : parameters) v = value();
            for (double& v : variables) v = value();
            if (i == 0)
                for (double& v : variables) v = testing::nan;
            tape.prepare<double>(parameters, scratch);
            tape.evaluate<double>(variables, scratch, expected);
            call(static_cast<int>(k), parameters.data(), variables.data(), out.data());
            for (std::size_t j = 0; j < out.size(); ++j) {
                ASSERT_TRUE(testing::same_bits(out[j], expected[j]))
                    << "tape " << k << ", output " << j << ": " << out[j] << " instead of " << expected[j];
                finite += std::isfinite(out[j]);
            }
        }
    }
    EXPECT_GT(finite, 20'000);
    dlclose(library);
}

TEST(EmittedSource, IsOneFunctionThatIncludesNothingButMath) {
    Fixture f;
    const std::string source = f.tape({f.g.mul(f.a, f.g.unary(Op::sin, f.x))}).emit_cpp("force");
    EXPECT_NE(source.find("void force(const double* parameters, const double* variables, double* out) {"),
              std::string::npos);
    EXPECT_EQ(source.find("#include"), source.rfind("#include"));
    EXPECT_NE(source.find("#include <math.h>"), std::string::npos);
    EXPECT_EQ(source.find("std::"), std::string::npos);
    EXPECT_NE(source.find("__host__ __device__"), std::string::npos);
}

}  // namespace
}  // namespace saltus::expr::emit_test
