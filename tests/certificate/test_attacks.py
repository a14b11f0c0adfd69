#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Certificates by hand that a careless checker would accept: each is a true certificate with one change that makes it false or
that the format does not cover. tools/check_certificate must refuse them all, for the stated reason."""
import unittest

import examples
import mutate
from examples import INF, box, changed, entry, h, numbers, split
from support import checker
from test_certificates import claim

block, pendulum, arm = examples.falling_block, examples.pendulum, examples.arm
PARAMETERS = "[parameters]"


def with_element(document, text):
    """The document with another element of the model, before its first contact or its parameters."""
    where = "[[contact]]" if "[[contact]]" in document["model"]["text"] else PARAMETERS
    return changed(document, where, text + "\n" + where)


def with_claim(document, condition, kind, **values):
    claim(document, condition, kind).update(values)
    return document


def with_setting(document, **values):
    document["setting"].update(values)
    return document


def element(kind, *lines):
    return "[[%s]]\n" % kind + "\n".join(lines)


# What changes the meaning of a model, and must not be passed over.
ELEMENTS = {
    "a jump of the state": (with_element(block(), element("jump", 'name = "j"', 'when = "x"', "u = { x = \"2*x'\" }")), "is not covered"),
    "mass points": (with_element(block(), "[points]\npositions = [[0, 0, 0]]\nmass = [1]"), "is not covered"),
    "a contact with a condition": (changed(block(), 'eN = "eN"', 'eN = "eN"\nif = "x < 1"'), "is not covered"),
    "static friction": (changed(block(), 'eN = "eN"', 'eN = "eN"\nmu_static = 2'), "is not covered"),
    "restitution of a slider": (with_element(block(), element("slider", "gammaT = \"x'\"", "mu = 1", "FN = 1", "eT = 0.5")), "is not covered"),
    "a constraint of velocities": (with_element(block(), element("constraint", 'name = "c"', "gamma = \"x' - 1\"")), "is not covered"),
    "friction of a patch": (changed(block(), 'eN = "eN"', 'eN = "eN"\nfriction = "contensou"\nradius = 0.1'), "is not covered"),
    "three velocities of slip": (changed(block(), "gammaT = \"x'\"", "gammaT = [\"x'\", \"x'\", \"x'\"]"), "wrong form"),
    "a normal force that follows a reaction": (with_element(block(), element("slider", "gammaT = \"x'\"", "mu = 1", 'FN = "lambda(floor)"')), "is not defined"),
    "a normal force below 0": (with_element(block(), element("slider", "gammaT = \"x'\"", "mu = 1", "FN = -1")), "may be negative"),
    "feedback that saturates": (changed(arm(), 'Kp = "Kp"\nKv', 'Kp = "Kp"\nsaturation = 0.1\nKv'), "is not covered"),
    "feedback that samples": (changed(arm(), 'Kp = "Kp"\nKv', 'Kp = "Kp"\nperiod = 1\nKv'), "is not covered"),
    "feedback that estimates velocities": (changed(arm(), 'Kp = "Kp"\nKv', 'Kp = "Kp"\nvelocity = "estimated"\nbandwidth = 1\nKv'), "is not covered"),
    "a reference that moves": (changed(arm(), 'Kp = "Kp"\nKv', 'Kp = "Kp"\nreference = { q = "sin(t)" }\nKv'), "reference that moves"),
    "a force of the controller at rest": (changed(arm(), 'Kp = "Kp"\nKv', 'Kp = "Kp"\nfeedforward = { q = 5 }\nKv'), "condition law"),
    "a table in the place of a list of tables": (changed(block(), "[[contact]]", "[contact]"), "is not covered"),
    "a block that repeats nothing": (with_element(block(), element("contact", 'for = "i in 3..1"', 'name = "w{i}"', 'gN = "1 - x"', "eN = 1.0")), "cannot be read"),
    "a counter that hides a coordinate": (changed(block(), 'name = "floor"', 'for = "y in 0..0"\nname = "floor"'), "cannot be read"),
    "a counter that hides a parameter": (changed(block(), 'name = "floor"', 'for = "k in 0..0"\nname = "floor"'), "cannot be read"),
    "two elements of one name": (with_element(block(), element("contact", 'name = "floor"', 'gN = "3 - x"')), "two of one name"),
    "a wall without loss": (with_element(block(), element("contact", 'name = "wall"', 'gN = "3.9 - x"', "eN = 1.0")), "condition"),
    "a wall with another law": (with_element(block(), element("contact", 'name = "wall"', 'gN = "3.9 - x"', "eN = 0.5", 'impact = "energy"')), "condition"),
    "a clutch beside a contact": (with_element(block(), element("clutch", "gamma = \"x'\"")), "clutches are not covered"),
    "a constraint far from the equilibrium": (with_element(block(), element("constraint", 'name = "c"', 'g = "x - 3"')), "condition 2"),
    "a constraint without solution": (with_element(block(), element("constraint", 'name = "c"', 'g = "1"')), "condition 2"),
}

# Names and numbers of the model.
NAMES = {
    "time in a friction coefficient": (changed(block(), 'mu = "mu"', 'mu = "mu*(1 + sin(t)/2)"'), "depends on time"),
    "time in a restitution": (changed(block(), 'eN = "eN"', 'eN = "eN*(1 + sin(t)/2)"'), "depends on time"),
    "time behind an auxiliary name": (changed(changed(block(), 'm*g*y"', 'm*g*y + w"'), PARAMETERS, '[let]\nw = "x*sin(t)/100"\n' + PARAMETERS), "depends on time"),
    "a velocity in U behind a name": (changed(changed(block(), 'm*g*y"', 'm*g*y + w"'), PARAMETERS, "[let]\nw = \"x*x'/100\"\n" + PARAMETERS), "U on velocities"),
    "parameters that define each other": (changed(changed(block(), "mu = 0.3", 'mu = "nu"'), PARAMETERS, PARAMETERS + '\nnu = "mu"', {"nu": 0.3}), "by itself"),
    "a parameter with the name of a function": (changed(pendulum(), PARAMETERS, PARAMETERS + "\nsin = 1", {"sin": 1}), "two meanings"),
    "a parameter with the name of a coordinate": (changed(pendulum(), PARAMETERS, PARAMETERS + "\nphi = 0.0", {"phi": 0}), "two meanings"),
    "an auxiliary expression with the name of a parameter": (changed(pendulum(), PARAMETERS, '[let]\nc = "-1"\n' + PARAMETERS), "two meanings"),
    "another pi": (changed(pendulum(), PARAMETERS, '[let]\npi = "1"\n' + PARAMETERS), "two meanings"),
    "another time": (changed(pendulum(), PARAMETERS, '[let]\nt = "1"\n' + PARAMETERS), "two meanings"),
    "not a number": (changed(block(), "mu = 0.3", "mu = nan"), "is not 0 or of a size"),
    "an infinite number": (changed(block(), "mu = 0.3", "mu = inf"), "is not 0 or of a size"),
    "a number that rounds to nothing": (changed(block(), "mu = 0.3", "mu = 1e-40", {"mu": 1e-40}), "is not 0 or of a size"),
    "a truth value": (changed(block(), 'mu = "mu"', "mu = true"), "is no expression"),
}

# Functions that are not defined, or not continuous, somewhere in the domain.
U = "-G*cos(phi)"
FUNCTIONS = {
    "a pole of U": (changed(pendulum(), U, U + " - 1/(phi - 1)^2"), "condition 2"),
    "a logarithm of negative numbers": (changed(pendulum(), U, U + " + log(phi + 1)/1000"), "logarithm"),
    "an arc sine beyond 1": (changed(pendulum(), U, U + " + asin(phi)^2/1000"), "square root"),
    "a root of negative numbers": (changed(pendulum(), U, U + " + sqrt(phi + 2)/1000"), "square root"),
    "half powers of negative numbers": (changed(pendulum(), U, U + " + (phi + 2)^1.5/1000"), "square root"),
    "third powers of negative numbers": (changed(pendulum(), U, U + " + (phi + 2)^(1/3)/1000"), "logarithm"),
    "a tiny step of U": (changed(pendulum(), U, U + " + 1e-9*sign(phi - 0.7)"), "not decided"),
    "another value at one point": (changed(pendulum(), U, U + " + if(phi == 0.7, 1, 0)"), "not decided"),
    "a pole of the tangent that the arc tangent hides": (changed(pendulum(), U, U + " + atan(tan(phi))/1000"), "contains 0"),
    "the angle where it jumps": (changed(pendulum(), U, U + " + atan2(sin(2*phi), cos(2*phi))/1000"), "contains 0"),
    "damping on one side": (changed(pendulum(), "c/2*phi'^2", "c/2*phi'^2*max(0, phi)"), "condition 3"),
    "damping except in a narrow gap": (changed(pendulum(), "c/2*phi'^2", "c/2*phi'^2*if(abs(phi - 0.3) < 1e-12, 0, 1)"), "condition 3"),
    "no damping at one point": (changed(pendulum(), "c/2*phi'^2", "c/2*phi'^2*if(phi == 0, 0, 1)"), "condition 3"),
    "a motor between two speeds": (changed(pendulum(), "c/2*phi'^2", "c/2*phi'^2*if(abs(phi' - 1) < 0.1, -1, 1)"), "condition 3"),
    "a motor at one speed": (changed(pendulum(), "c/2*phi'^2", "c/2*phi'^2 + if(phi' == 1, 1, 0)"), "condition 3"),
    "a friction coefficient that turns negative": (changed(block(), 'mu = "mu"', 'mu = "mu*(1 - x/3.9)"'), "may be negative"),
    "a friction coefficient that turns negative with the speed": (changed(block(), 'mu = "mu"', "mu = \"mu*(1 - x'^2)\""), "may be negative"),
    "a friction coefficient that vanishes at a place": (changed(block(), 'mu = "mu"', 'mu = "mu*min(1, 100*x^2)"'), "condition 5"),
    "a restitution above 1 at a place": (changed(block(), 'eN = "eN"', 'eN = "0.5 + x^2"'), "condition 6"),
    "slip of a row that is 0": (changed(block(), "gammaT = \"x'\"", "gammaT = \"x' - x'\""), "condition 5"),
    "slip on a floor that moves": (changed(block(), "gammaT = \"x'\"", "gammaT = \"x' - 0.1\""), "does not vanish"),
    "slip on a floor that moves at one place": (changed(block(), "gammaT = \"x'\"", "gammaT = \"x' - 0.1*if(x == 1, 1, 0)\""), "does not vanish"),
    "a bump of the floor": (changed(block(), 'gN = "y"', 'gN = "y - max(0, 0.3 - abs(x - 2))"'), "condition 2"),
    "a step of the floor": (changed(block(), 'gN = "y"', 'gN = "y - if(x > 2, 0.3, 0)"'), "condition"),
    "a gap without a normal": (changed(block(), 'gN = "y"', 'gN = "y^3"'), "condition 2"),
    "a lift that grows with the speed": (changed(block(), "U = \"k", "f = { y = \"x'^2\" }\nU = \"k"), "condition 3"),
}

# Trees, numbers and settings.
CLAIMS = {
    "a split at no number": (with_claim(block(), "1", "mass", tree=["split", 0, "nan", ["definite"], ["definite"]]), "no number"),
    "a split along a negative axis": (with_claim(block(), "1", "mass", tree=["split", -1, h(0), ["definite"], ["definite"]]), "no number"),
    "a split along a truth value": (with_claim(block(), "1", "mass", tree=["split", True, h(0), ["definite"], ["definite"]]), "no number"),
    "a split with one part": (with_claim(block(), "1", "mass", tree=["split", 0, h(0), ["definite"]]), "is no tree"),
    "a part that is missing": (with_claim(block(), "1", "mass", tree=["split", 0, h(0), ["definite"], None]), "is no tree"),
    "an empty leaf": (with_claim(block(), "1", "mass", tree=[]), "is no tree"),
    "a leaf of another claim": (with_claim(block(), "1", "mass", tree=["bounded"]), "not allowed"),
    "a leaf with the name of a function": (with_claim(block(), "1", "mass", tree=["form"]), "not allowed"),
    "N that is one point": (with_claim(with_claim(block(), "2", "unique", N=box((0, 0), (0, 0))), "2", "stationary", N=box((0, 0), (0, 0))), "inside N"),
    "a curvature that is borrowed": (with_claim(block(), "2", "unique", kappa=h(-100)), "unique"),
    "a point outside of the domain": (with_claim(block(), "2", "point", box=box((5, 5), (0.25, 0.25))), "outside the domain"),
    "a point below the floor": (with_claim(block(), "2", "point", box=box((0, 0), (-0.125, -0.125))), "not admissible"),
    "a point above the level": (with_claim(block(), "2", "point", box=box((0, 0), (4, 4))), "not below the level"),
    "no row of the open gap": (with_claim(block(), "4", "closing", tree=["accelerations", [entry("floor", [], [0])]]), "acceleration"),
    "a row that rounds to nothing": (with_claim(block(), "4", "closing", tree=["accelerations", [entry("floor", [], [2.0 ** -1022])]]), "acceleration"),
    "a negative bound of velocities": (with_claim(block(), "4", "closing", tree=["accelerations", [entry("floor", [], [1], sigma=-1)]]), "is negative"),
    "an infinite bound of velocities": (with_claim(block(), "4", "closing", tree=["accelerations", [entry("floor", [], [1], beta=INF)]]), "finite number"),
    "no direction": (with_claim(block(), "8", "equilibria", tree=["unbalanced", [{"signs": [], "d": numbers(0, 0)}]]), "may balance"),
    "everything below the level": (with_claim(block(), "8", "equilibria", tree=["below"]), "not below the level"),
    "a list of sets that is empty": (with_claim(block(), "8", "equilibria", tree=["listed", 0]), "no number below 0"),
    "the last set of the list": (with_claim(examples.block_equilibria(), "complete", "equilibria", tree=["listed", -1]), "no number below 1"),
    "a level in a search that has none": (with_claim(examples.block_equilibria(), "complete", "equilibria", tree=["level"]), "not above the level"),
    "friction that holds more": (with_element(examples.block_equilibria(), element("slider", "gammaT = \"x'\"", "mu = 1", "FN = 10")), "may balance"),
    "a clutch that holds": (with_element(examples.block_equilibria(), element("clutch", "gamma = \"x'\"")), "positive work"),
    "a wall that holds": (with_element(examples.block_equilibria(), element("contact", 'name = "wall"', 'gN = "x - 2"')), "positive work"),
    "level 0": (with_setting(block(), level=h(0)), "not positive"),
    "level -inf": (with_setting(block(), level="-inf"), "not positive"),
    "a level that is not text": (with_setting(block(), level=20), "no number"),
    "a level beyond all doubles": (with_setting(block(), level="0x1p+1024"), "no number"),
    "a reference that is too low": (with_setting(block(), reference=h(-300)), "not below the level"),
    "a reference that is too high": (with_setting(block(), reference=h(300)), "condition 2"),
    "coordinates in another order": (with_setting(block(), coordinates=["y", "x"]), "not those of the model"),
    "a contact twice in I_C": (with_setting(block(), I_C=["floor", "floor"]), "no list of contacts"),
    "an unknown contact in I_C": (with_setting(block(), I_C=["roof"]), "no list of contacts"),
    "I_C without contacts": (with_setting(block(), I_C=[]), "condition 4"),
    "a domain that is turned round": (with_setting(block(), domain=box((4, -4), (-0.25, 5))), "is empty"),
    "a key of another theorem": (with_setting(block(), sets=[]), "the keys"),
}

# The other theorems.
conveyor, hill, mixed, boxed = examples.conveyor, examples.hill, examples.cross_term, examples.cross_term_in_a_box
THEOREMS = {
    "bounces without loss on a conveyor": (changed(conveyor(), "eN = 0.5", "eN = 1.0", {"eN": 1.0}), "restitution"),
    "tangential bounces without loss": (changed(conveyor(), 'eN = "eN"', 'eN = "eN"\neT = 1.0'), "restitution"),
    "impacts by Poisson's law on a conveyor": (changed(conveyor(), 'eN = "eN"', 'eN = "eN"\nimpact = "poisson"'), "restitution"),
    "a ceiling that is struck": (with_element(conveyor(), element("contact", 'name = "ceiling"', 'gN = "0.4 - y"', "eN = 1")), "to be open"),
    "a second floor at the same place": (with_element(conveyor(), element("contact", 'name = "second"', 'gN = "y"', "eN = 0.5")), "to be open"),
    "a contact that is left out of the mode": (with_setting(conveyor(), mode={}), "is no box"),
    "a contact with friction that is only closed": (with_setting(conveyor(), mode={"belt": "closed"}), "cannot have the state"),
    "a contact that sticks to a belt": (with_setting(conveyor(), mode={"belt": "sticks"}), "cannot have the state"),
    "the wrong direction of slip": (with_setting(conveyor(), mode={"belt": "forwards"}), "condition 2"),
    "a level beyond the region": (with_setting(conveyor(), level=h(1)), "not inside the region"),
    "velocities at which slip turns round": (with_setting(conveyor(), velocities=box((-1.5, 1.5), (-0.5, 0.5))), "change its sign"),
    "velocities without bound": (with_setting(conveyor(), velocities=box((-INF, INF), (-INF, INF))), "unbounded region"),
    "a matrix that is not symmetric": (with_claim(conveyor(), "4", "falls", P=[numbers(4.5, 0, 0.75, 0), *claim(conveyor(), "4", "falls")["P"][1:]]), "not symmetric"),
    "a matrix that is 0": (with_claim(conveyor(), "4", "falls", P=[numbers(0, 0, 0, 0)] * 4), "not shown to be positive"),
    "closed contacts that count negatively": (with_claim(conveyor(), "4", "falls", kappa=h(-1)), "not shown to be positive"),
    "a rate below 0": (with_claim(hill(), "4", "grows", nu=h(-1)), "negative"),
    "slip that is not examined": (with_claim(hill(), "4", "grows", kappas=[]), "numbers are needed"),
    "a direction that is 0": (with_claim(hill(), "4", "grows", position=numbers(0), velocity=numbers(0)), "not positive along"),
    "a fixed coordinate with a width": (with_claim(examples.belt(1.4), "2", "mode equilibrium", fixed=[0], preconditioner=[]), "not one number"),
    "a function that is turned round": (with_setting(mixed(), V="-(T + U + x*x'/10)"), "convex"),
    "a function of time": (with_setting(mixed(), V="T + U + x*x'/10 + t"), "depends on time"),
    "a function whose minimum is elsewhere": (with_setting(mixed(), point=numbers(0.5)), "gradient"),
    "a function that falls again for fast motions": (with_setting(boxed(), V="T + U + x*x'/10 - 10*x'^4"), "convex"),
    "a level above the values on the boundary": (with_setting(boxed(), level=h(0.625)), "boundary"),
    "a boundary that is not examined": (with_claim(boxed(), "2", "boundary", faces=[]), "not all ends"),
    "a decrease along one state of two": (with_claim(mixed(), "3", "decrease", along=[0]), "assumption"),
    "a slider that the function does not know": (with_element(mixed(), element("slider", "gammaT = \"x'\"", "mu = 1", "FN = 1")), "make V grow"),
    "a constraint that the function does not know": (with_element(mixed(), element("constraint", 'name = "c"', 'g = "x - 0.1"')), "make V grow"),
    "a stop that pushes the mass away": (changed(examples.stopped_spring(), "x + 0.25", "x - 0.25"), "make V grow"),
    "a load that pulls": (with_claim(examples.weighted_energies(), "2", "minimum of V", support={"floor": h(-1)}), "does not push"),
    "no saddle": (with_claim(examples.growing_function(), "2", "saddle of V", direction=numbers(0, 0)), "not shown to fall"),
    "masses that no spring joins": (changed(examples.damped_pair(), "s = 1.0", "s = 0.0", {"s": 0.0}), "observable"),
    "a damper that sees one mode of two": (changed(changed(examples.damped_pair(), "k*y^2", "k/2*y^2"), "c/2*x'^2", "c/2*(x' - y')^2"), "observable"),
    "a potential that jumps beside a convex one": (changed(examples.damped_pair(), "k*y^2", "k*y^2 + atan2(x, y)"), "not constant"),
    "inertia that changes": (changed(examples.damped_pair(), "m/2*x'^2", "m/2*x'^2*(1 + x^2)"), "not constant"),
    "an elastic impact with rounding": (changed(arm(), "e = 1.0", "e = 1.0000001", {"e": 1.0000001}), "create energy"),
    "a goal beyond the stop": (changed(arm(), 'actuated = ["q"]', 'actuated = ["q"]\nreference = { q = 2.0 }'), "condition 3"),
    "friction that holds an inverted pendulum anywhere": (changed(examples.inverted_pendulum(), "mu = 0.25", "mu = 2.0", {"mu": 2.0}), "may balance"),
    "a support that moves": (changed(examples.inverted_pendulum(), "gammaT = \"x'\"", "gammaT = \"x' - 0.1\""), "does not vanish"),
}


class Attacks(unittest.TestCase):
    def refused(self, attacks):
        for name, (document, reason) in attacks.items():
            with self.subTest(name):
                ok, why = mutate.accepted(document)
                self.assertFalse(ok, "accepted")
                self.assertIn(reason, why)

    def test_elements_that_change_the_meaning_of_a_model_are_refused(self):
        self.refused(ELEMENTS)

    def test_names_and_numbers_have_one_meaning(self):
        self.refused(NAMES)

    def test_functions_must_be_defined_and_continuous_where_a_claim_uses_them(self):
        self.refused(FUNCTIONS)

    def test_trees_numbers_and_settings_show_only_what_they_contain(self):
        self.refused(CLAIMS)

    def test_false_statements_of_the_other_theorems_are_refused(self):
        self.refused(THEOREMS)

    def test_very_large_numbers_get_an_answer(self):
        document = with_claim(block(), "4", "closing", tree=["accelerations", [entry("floor", [], [2.0 ** 1000])]])
        self.assertEqual(mutate.accepted(document), (True, ""), "any positive number of rows will do")


class Reports(unittest.TestCase):
    def test_numbers_of_the_statement_are_not_rounded(self):
        """With 10 digits the level would be 20, and the statement would say more than was shown."""
        level = 20 - 2.0 ** -40
        text = "\n".join(checker.check(with_setting(block(), level=h(level))))
        self.assertIn("< %r that starts" % level, text)

    def test_the_statement_names_the_velocities_of_its_region(self):
        """V = T + U + x x'/10 is below the level also at states with velocities beyond the region, of which nothing is shown."""
        for document in (examples.cross_term_in_a_box(), examples.belt(1.4)):
            self.assertRegex(checker.check(document)[-2], r"domain: x in \[.*\], x' in \[")


if __name__ == "__main__":
    unittest.main()
