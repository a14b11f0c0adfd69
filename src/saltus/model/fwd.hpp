// SPDX-License-Identifier: Apache-2.0
#pragma once

// Forward declarations of the types of this module. A header that passes a Mechanics, a Model or a System only by
// reference includes this file in the place of mechanics.hpp, model.hpp or system.hpp.

namespace saltus::model {

struct BuildOptions;
struct Clutch;
struct Constraint;
struct Contact;
struct Description;
struct Energy;
struct Friction;
struct Layout;
struct Mechanics;
struct Model;
struct Pattern;
struct Settings;
struct Slider;
struct Terms;
class Drawing;
class Jacobians;
class MassFactor;
class SymbolicEquations;
class System;
class Workspace;

}  // namespace saltus::model
