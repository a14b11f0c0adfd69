# SPDX-License-Identifier: Apache-2.0
"""The module against closed forms and against the program."""

import csv
import json
import math
import os
import pickle
import signal
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import saltus
from saltus import _program

models = Path(os.environ["SALTUS_SOURCE_DIR"]) / "models"

BALL = """
[system]
name = "ball"
q = ["y"]
T = "m*y'^2/2"
U = "m*g*y"
[parameters]
m = 1
g = 10
e = 0.5
[[contact]]
name = "floor"
gN = "y"
eN = "e"
[initial]
q = { y = 5 }
[simulate]
t_end = 1.5
"""


def program(*words, **options):
    return subprocess.run([_program.program(), *map(str, words)], capture_output=True, text=True, **options)


def without_times(document):
    document = json.loads(json.dumps(document))
    document.pop("statistics", None)
    return document


def test_a_motion_has_the_closed_form():
    r = saltus.model(BALL).simulate()
    assert r.status == "completed"
    assert r.events[0].kind == "impact"
    assert r.events[0].t == pytest.approx(1.0, abs=1e-12)
    assert r.at(1.0, before=True)["y'"] == pytest.approx(-10.0, abs=1e-9)
    assert r.at(1.0)["y'"] == pytest.approx(5.0, abs=1e-9)
    assert r.at(0.5)["y"] == pytest.approx(5 - 10 * 0.25 / 2, abs=1e-9)
    times = np.array([0.1, 1.25])
    np.testing.assert_allclose(r.at(times)["y"], [4.95, 5 * 0.25 - 10 * 0.25**2 / 2], atol=1e-9)


def test_arrays_are_views_that_cannot_be_written():
    r = saltus.model(BALL).simulate()
    assert r.q.base is not None and not r.q.flags.owndata
    with pytest.raises(ValueError):
        r.q[0, 0] = 1.0
    q = r.q
    del r  # the array keeps its memory alive
    assert q[0, 0] == 5.0


@pytest.mark.parametrize("name", ["bouncing-ball", "rocking-bar", "woodpecker"])
def test_states_are_those_of_states_csv(name, tmp_path):
    out = tmp_path / "run"
    assert program("simulate", models / f"{name}.toml", "--t-end", "1", "--samples", "101", "--out", out,
                   "--quiet").returncode == 0
    with open(out / "states.csv", newline="") as file:
        rows = list(csv.reader(file))
    r = saltus.load(models / f"{name}.toml").simulate(t_end=1, samples=101)
    names = ["t", *r.coordinates, *(c + "'" for c in r.coordinates)]
    expected = np.array([[float(x) for x in row[: len(names)]] for row in rows[1:]])
    np.testing.assert_array_equal(r.t, expected[:, 0])
    for k, key in enumerate(rows[0][1: len(names)], start=1):
        np.testing.assert_array_equal(r[key], expected[:, k], err_msg=key)


def test_the_document_is_that_of_the_program():
    path = models / "rocking-bar.toml"
    told = json.loads(program("simulate", path, "--t-end", "1", "--set", "mu=0.4", "--json", "--quiet").stdout)
    r = saltus.load(path, mu=0.4).simulate(t_end=1)
    mine = without_times(r.to_dict())
    mine.pop("balance", None)  # the program computes it only if it is asked for
    told.pop("balance", None)
    assert mine == without_times(told)


def test_all_questions_answer_as_the_program_does():
    path = models / "rocking-bar.toml"
    m = saltus.load(path, mu=0.4)
    certificate = m.certify()
    for answer, words in [
        (m.equilibria(), ["equilibria"]),
        (certificate, ["certify"]),
        (m.check(), ["check"]),
        (m.sensitivity(wrt=["mu"], t_end=0.5), ["sensitivity", "--wrt", "mu", "--t-end", "0.5"]),
    ]:
        told = json.loads(program(words[0], path, *words[1:], "--set", "mu=0.4", "--json", "--quiet").stdout)
        assert without_times(answer.to_dict()) == without_times(told)
    assert isinstance(certificate.verdict, str)


def test_derivatives_of_event_times():
    # y(t) = h - g t^2/2: the impact is at sqrt(2 h/g), its derivative by g is -t/(2 g).
    d = saltus.model(BALL).sensitivity(wrt="g", t_end=0.5)
    assert d.at_end["y"]["g"] == pytest.approx(-0.125, abs=1e-9)
    d = saltus.model(BALL).sensitivity(wrt=["g", "e"], t_end=1.2)
    assert d.event_times[0]["dt"]["g"] == pytest.approx(-1 / 20, abs=1e-9)


def test_forces_and_gaps():
    text = BALL.replace("y = 5", "y = 0").replace("t_end = 1.5", "t_end = 1")
    r = saltus.model(text).simulate(samples=11)
    np.testing.assert_allclose(r.contact("floor").N, 10.0, atol=1e-9)
    np.testing.assert_allclose(r.contact("floor").gap, 0.0, atol=1e-9)
    with pytest.raises(KeyError, match="floor"):
        r.contact("flor")


def test_basin_labels():
    b = saltus.load(models / "rocking-bar.toml").basin(phi=(-1.2, 1.2, 3), **{"phi'": (-4, 4, 3)}, t_max=5)
    assert b.columns == ["phi", "phi'"]
    assert b.starts.shape == (9, 2) and b.label.shape == (9,)
    assert sum(b.counts.to_dict().values()) == 9


def test_many_motions_have_the_numbers_that_were_asked_for(tmp_path):
    ball = saltus.load(models / "bouncing-ball.toml")
    s = ball.simulate(3, vary={"e": np.array([0.5, 0.6]), "y": (0.5, 1, 2)}, ask=["first(impact), rest", "end"])
    assert s.columns == ["e", "y"] and s.starts.tolist() == [[0.5, 0.5], [0.5, 1], [0.6, 0.5], [0.6, 1]]
    fall = np.sqrt(2 * s.starts[:, 1] / ball.parameters["g"])
    assert np.allclose(s.answers["first(impact)"], fall, rtol=1e-9)
    e = s.starts[:, 0]
    assert np.allclose(s.answers["rest"], fall * (1 + e) / (1 - e), rtol=1e-7)
    assert set(s.outcome) == {"completed"} and s.fraction.rest.value == 1
    random = ball.simulate(1, samples=30, box={"e": ("normal", 0.5, 0.1), "y'": (-1, 1)}, ask="count(impact)", seed=3)
    assert len(random.starts) == 30 and abs(random.starts[:, 0].mean() - 0.5) < 0.1
    again = ball.simulate(1, samples=30, box={"e": ("normal", 0.5, 0.1), "y'": (-1, 1)}, ask="count(impact)", seed=3)
    assert (random.answers["count(impact)"] == again.answers["count(impact)"]).all()
    all_measures = ball.simulate(1, vary="e=0.5,0.6", out=tmp_path / "study")
    assert len(all_measures["runs"]) == 2 and "peak_impulse" in all_measures.answers
    assert (saltus.open(tmp_path / "study").starts == all_measures.starts).all()
    with pytest.raises(saltus.Error, match="ask is for many motions"):
        ball.simulate(1, ask="end")
    with pytest.raises(saltus.Error, match="with e = 1.2"):
        ball.simulate(1, vary={"e": np.array([0.5, 1.2])}, ask="end")


def test_basins_over_parameters_random_starts_and_orbits():
    bar = saltus.load(models / "rocking-bar.toml")
    b = bar.basin({"mu": np.array([0.2, 0.5]), "phi": (-0.5, 0.5, 3)}, t_max=5)
    assert b.columns == ["mu", "phi"] and len(b.label) == 6 and b.grid.parameters == ["mu"]
    r = bar.basin(samples=10, box={"phi": (-1, 1), "mu": ("normal", 0.5, 0.02)}, t_max=5)
    assert len(r.label) == 10 and r.labels["1"].startswith("rest, closed: ")
    belt = saltus.System(q=["x"], T="x'^2/2", U="x^2/2", R="0.05*x'^2", initial={"x": 0.5},
                         sliders=[{"name": "belt", "gammaT": "x' - 1.5", "mu": 1, "FN": "0.5 + 0.5*exp(-2*abs(x' - 1.5))"}])
    o = belt.basin(x=(-2, -1.5, 3), t_max=60, section="x = 0.55", method="event", no_certify=True)
    assert o.orbits[0].name == "O1" and o.counts["1"] == 3


def test_an_interrupted_basin_has_the_starts_that_were_computed():
    m = saltus.load(models / "bouncing-ball.toml")
    exact = {"t_max": 20, "no_certify": True, "method": "event"}
    b = m.basin(y=(0.1, 1, 60000), seconds=0.5, **exact)
    assert b.status == "interrupted"
    assert 0 < len(b.starts) < 60000 and len(b.label) == len(b.time) == len(b.starts)
    y = b.starts[0, 0]
    again = m.basin(y=(y, y + 1, 2), **exact)
    assert again.label[0] == b.label[0] and again.time[0] == pytest.approx(b.time[0], rel=1e-12)


def test_branches_and_diagrams_have_the_bifurcations_of_the_ball():
    ball = saltus.load(models / "ball-on-moving-plane.toml")
    branch = ball.branch("Gamma=0.9:1.6", period="2*pi/w", settle=2, doublings=0)
    special = {s["kind"]: s["parameter"]["Gamma"] for s in branch["special"]}
    assert abs(special["fold"] - 3.141592653589793 / 3) < 1e-10
    assert abs(special["period doubling"] - 1.526823700519) < 1e-10
    assert list(ball.diagram("Gamma=1.3,1.6", period="2*pi/w", transient=500)["periods"]) == [1, 2]


def test_orbits_have_multipliers():
    # x = exp(-t/10)-damped oscillator driven at w = 1: one period later a disturbance is exp(-0.05 2 pi) as large.
    text = """
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
R = "0.05*x'^2"
f = { x = "cos(t)" }
"""
    o = saltus.model(text).orbit(period="2*pi")
    assert o.status == "converged" and o.stable is True
    assert math.hypot(*o.multipliers[0]) == pytest.approx(math.exp(-0.05 * 2 * math.pi), abs=1e-9)


def test_parameters_change_by_with():
    m = saltus.model(BALL, e=0.25)
    assert m.parameters["e"] == 0.25
    assert m.with_(g=20).parameters == {"m": 1.0, "g": 20.0, "e": 0.25}


def test_errors_have_place_and_remedy():
    with pytest.raises(saltus.Error) as e:
        saltus.model(BALL.replace('"m*g*y"', '"m*g*z"'))
    assert e.value.line == 6 and e.value.column > 0 and "z" in e.value.message
    with pytest.raises(saltus.Error) as e:
        saltus.load("no-such-file.toml")
    assert e.value.file == "no-such-file.toml"
    with pytest.raises(saltus.Error, match="t_end"):
        saltus.model(BALL).simulate(t_end=-1)
    with pytest.raises(saltus.Error, match="theorem"):
        saltus.model(BALL).certify(theorem="nonsense")
    with pytest.raises(TypeError, match="tolerance"):
        saltus.model(BALL).simulate(tolerance=1)
    with pytest.raises(saltus.Error):
        saltus.model(BALL, nonsense=1)
    assert pickle.loads(pickle.dumps(saltus.Error("a", "b", 1, 2, "c"))).remedy == "c"


def test_wrong_keywords_are_named():
    m = saltus.load(models / "rocking-bar.toml")
    with pytest.raises(TypeError, match=r"check\(\) has no option 'colour'"):
        m.check(colour=3)
    with pytest.raises(TypeError, match=r"certify\(\) has no option 'theorm'; did you mean 'theorem'\?"):
        m.certify(theorm="attractivity")
    with pytest.raises(TypeError, match="'psi' and the model no coordinate, it has x, y, phi"):
        m.basin(psi=(0, 1, 3))
    with pytest.raises(TypeError, match="t_end is 'late'"):
        m.simulate(t_end="late")
    with pytest.raises(saltus.Error, match="mu is nan, it must be finite"):
        m.with_(mu=math.nan)


def test_results_are_shown_in_a_few_lines():
    m = saltus.load(models / "rocking-bar.toml")
    assert repr(m.simulate(t_end=1)) == "<saltus motion of 'rocking bar', t = 0 to 1, completed, 62 events>"
    assert len(repr(m.equilibria())) < 10000 < len(repr(m.equilibria().to_dict()))


def test_a_start_that_penetrates_is_repaired_if_wanted():
    with pytest.raises(saltus.Error, match="penetrates"):
        saltus.model(BALL, y=-1)
    m = saltus.model(BALL, y=-1, project_initial=True)
    assert m.initial[0]["y"] == pytest.approx(0, abs=1e-12)
    assert m.with_(e=0.2).simulate().status == "completed"
    assert m.equilibria().sets and pickle.loads(pickle.dumps(m)).initial == m.initial


def test_times_outside_the_motion_are_refused():
    with pytest.raises(ValueError, match="not within the motion"):
        saltus.model(BALL).simulate().at(99.0)


def test_failures_are_a_status():
    r = saltus.model(BALL).simulate(method="moreau", h=0.5, t_end=10)
    assert r.status == "inaccurate" and r.exit_code == 3
    with pytest.raises(saltus.Failure):
        r.raise_if_failed()
    good = saltus.model(BALL).simulate()
    assert good.raise_if_failed() is good


def test_ctrl_c_keeps_what_exists():
    m = saltus.model(BALL, e=1)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    r = m.simulate(t_end=1e9)
    assert r.status == "interrupted"
    assert 0 < r.t[-1] < 1e9


def test_other_threads_run_during_a_motion():
    count = 0
    done = False

    def counting():
        nonlocal count
        while not done:
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=counting)
    thread.start()
    saltus.model(BALL, e=1).simulate(t_end=1e9, seconds=0.5)
    done = True
    thread.join()
    assert count > 20


def test_motions_and_models_are_pickled():
    m = saltus.model(BALL, e=0.3)
    r = m.simulate()
    copy = pickle.loads(pickle.dumps(r))
    np.testing.assert_array_equal(copy.t, r.t)
    np.testing.assert_array_equal(copy.q, r.q)
    assert copy.to_dict() == r.to_dict()
    few = m.simulate(samples=11)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(few)).t, few.t)
    assert pickle.loads(pickle.dumps(m)).parameters == m.parameters


def test_stored_results_are_opened(tmp_path):
    out = tmp_path / "run"
    assert program("simulate", models / "bouncing-ball.toml", "--out", out, "--quiet").returncode == 0
    stored = saltus.open(out)
    r = saltus.load(models / "bouncing-ball.toml").simulate()
    np.testing.assert_array_equal(stored.q, r.q)
    with pytest.raises(saltus.Error, match="results"):
        saltus.open(tmp_path)


def test_stored_motions_have_forces_if_their_model_is_beside_them(tmp_path):
    out = tmp_path / "run"
    assert program("simulate", models / "rocking-bar.toml", "--set", "mu=0.4", "--out", out, "--quiet").returncode == 0
    stored, r = saltus.open(out), saltus.load(models / "rocking-bar.toml", mu=0.4).simulate()
    np.testing.assert_allclose(stored.contact("left").N, r.contact("left").N, rtol=1e-12)
    np.testing.assert_allclose(stored.contact("left").gap, r.contact("left").gap, atol=1e-15)
    assert stored._repr_html_().startswith("<iframe")
    with (out / "model.toml").open("a") as file:
        file.write("# another model\n")
    with pytest.raises(saltus.Error, match="no model"):
        saltus.open(out / "trajectory.h5").contact("left").N


def test_stored_results_are_of_the_class_of_their_question(tmp_path):
    bar = models / "rocking-bar.toml"
    grid = ("--grid", "phi=-0.2:0.2:3", "--t-max", "1", "--no-certify")
    assert program("basin", bar, *grid, "--out", tmp_path / "basin", "--quiet").returncode == 0
    assert saltus.open(tmp_path / "basin").starts.shape == (3, 1)
    assert program("sensitivity", bar, "--wrt", "mu", "--t-end", "0.1", "--out", tmp_path / "d", "--quiet").returncode == 0
    assert "mu" in saltus.open(tmp_path / "d").at_end["x"]
    # The bar rests: there is no orbit, and what is read from the file says so, too.
    assert program("orbit", bar, "--out", tmp_path / "orbit", "--quiet").returncode == 3
    with pytest.raises(saltus.Failure):
        saltus.open(tmp_path / "orbit").raise_if_failed()


def test_a_system_from_expressions():
    m = saltus.System(q=["y"], T="m*y'^2/2", U="m*g*y", parameters={"m": 1, "g": 10, "e": 0.5},
                      contacts=[{"name": "floor", "gN": "y", "eN": "e"}], initial={"y": 5},
                      simulate={"t_end": 1.5})
    np.testing.assert_array_equal(m.simulate().q, saltus.model(BALL).simulate().q)


def test_a_system_from_sympy():
    sympy = pytest.importorskip("sympy")
    y, v, g = sympy.Symbol("y"), sympy.Symbol("y'"), sympy.Symbol("g")
    m = saltus.System(q=[y], T=v**2 / 2, U=g * y, parameters={"g": 10}, initial={"y": 5})
    assert m.simulate(t_end=1).at(1.0)["y"] == pytest.approx(0.0, abs=1e-9)


def test_sympy_functions_and_functions_of_time():
    sympy = pytest.importorskip("sympy")
    x, v, t = sympy.Symbol("x"), sympy.Symbol("x'"), sympy.Symbol("t")
    spring = saltus.System(q=["x"], T="x'^2/2", U="if(x > 0, x^2, 0) + abs(x) + exp(1)*x", initial={"x": 1})
    expected = spring.simulate(t_end=1).at(1.0)["x"]
    pieces = sympy.Piecewise((x**2, x > 0), (0, True))
    m = saltus.System(q=[x], T=v**2 / 2, U=pieces + sympy.Max(x, -x) + sympy.E * x, initial={x: 1})
    assert m.simulate(t_end=1).at(1.0)["x"] == pytest.approx(expected, abs=1e-9)
    X = sympy.Function("x")(t)
    U = X**2 * sympy.Heaviside(X) + sympy.Abs(X) + sympy.exp(1) * X
    m = saltus.System(q=[X], T=X.diff(t)**2 / 2, U=U, initial={X: 1})
    assert m.simulate(t_end=1).at(1.0)["x"] == pytest.approx(expected, abs=1e-9)
    with pytest.raises(saltus.Error, match="velocity"):
        saltus.System(q=[X], T=X.diff(t, 2)**2 / 2)
    with pytest.raises(saltus.Error, match="Piecewise"):
        saltus.System(q=[x], T=v**2 / 2, U=sympy.Piecewise((x**2, x > 0)))


def test_a_system_with_jumps():
    m = saltus.System(q=["y"], T="y'^2/2", U="10*y", initial={"y": 5},
                      jump=[{"name": "floor", "when": "y", "direction": "down", "u": {"y": "-0.5*y'"}}])
    event = m.simulate(t_end=1.5).events[0]
    assert event.kind == "jump" and event.t == pytest.approx(1, abs=1e-10) and event.u_plus.y == pytest.approx(5)


class PendulumAtAWall:
    """A pendulum of length 1 that meets a wall at x = 0.3."""

    def mass(self, t, q):
        return [[2.0]]

    def force(self, t, q, u):
        return [-2.0 * 9.81 * math.sin(q[0])]

    def gaps(self, t, q):
        return [0.3 - math.sin(q[0])]

    def gap_gradients(self, t, q):
        return [[-math.cos(q[0])]]

    def gap_curvatures(self, t, q, u):
        return [math.sin(q[0]) * u[0] ** 2]

    def potential(self, t, q):
        return 2.0 * 9.81 * (1 - math.cos(q[0]))


def test_a_python_class_moves_as_the_same_expressions_do():
    slow = saltus.native(PendulumAtAWall(), q={"phi": 0.1}, u={"phi": 1.0}, contacts={"wall": 0.5})
    fast = saltus.System(q=["phi"], T="phi'^2", U="2*9.81*(1 - cos(phi))", initial={"phi": 0.1, "phi'": 1.0},
                         contacts=[{"name": "wall", "gN": "0.3 - sin(phi)", "eN": 0.5}])
    a, b = slow.simulate(t_end=3), fast.simulate(t_end=3)
    assert a.status == b.status == "completed"
    assert [e.kind for e in a.events] == [e.kind for e in b.events] and len(a.events) >= 2
    np.testing.assert_allclose([e.t for e in a.events], [e.t for e in b.events], atol=1e-7)
    assert a.at(3.0)["phi"] == pytest.approx(b.at(3.0)["phi"], abs=1e-6)
    assert a.energy.final == pytest.approx(b.energy.final, abs=1e-6)
    assert np.nanmin(a.contact("wall").gap) > -1e-9


def test_errors_in_a_python_class_arrive():
    class Wrong(PendulumAtAWall):
        def force(self, t, q, u):
            if t > 0.1:
                raise ZeroDivisionError("in the model")
            return [0.0]

    with pytest.raises(ZeroDivisionError, match="in the model"):
        saltus.native(Wrong(), q={"phi": 0.1}, contacts={"wall": 0.5}).simulate(t_end=1)

    class Short(PendulumAtAWall):
        def mass(self, t, q):
            return [1.0, 2.0]

    with pytest.raises(saltus.Error, match="mass"):
        saltus.native(Short(), q={"phi": 0.1}, contacts={"wall": 0.5})
    with pytest.raises(saltus.Error, match="penetrates"):
        saltus.native(PendulumAtAWall(), q={"phi": 1.0}, contacts={"wall": 0.5})
    with pytest.raises(saltus.Error, match="restitution"):
        saltus.native(PendulumAtAWall(), q={"phi": 0.1}, contacts={"wall": 1.5})


def test_a_linear_system():
    # A mass on a spring, released at 1 and struck by a stop at -0.5: x = cos t, and the impact is at acos(-0.5).
    m = saltus.linear([[1.0]], [[0.0]], [[1.0]], [[1.0]], e=0.5, gap=0.5, q0=[1.0])
    r = m.simulate(t_end=2.5)
    assert r.events[0].t == pytest.approx(math.acos(-0.5), abs=1e-10)
    assert r.at(r.events[0].t)["q1'"] == pytest.approx(0.5 * math.sin(math.acos(-0.5)), abs=1e-8)
    with pytest.raises(saltus.Error, match="symmetric"):
        saltus.linear(np.eye(2), [[0, 1], [-1, 0]], np.eye(2), np.zeros((0, 2)))
    with pytest.raises(saltus.Error, match="shape"):
        saltus.linear(np.eye(2), np.eye(3), np.eye(2), np.zeros((0, 2)))


def test_lists_of_a_linear_system_have_the_right_lengths():
    two = (np.eye(2), np.zeros((2, 2)), np.eye(2), [[0, 1]])
    for wrong in ({"e": [0.5, 0.3]}, {"gap": [1, 2]}, {"mu": 0.3, "HT": [[1, 0, 0]]}, {"u0": [1, 2, 3]}, {"f": [1]}):
        with pytest.raises(saltus.Error, match="shape|entries"):
            saltus.linear(*two, **wrong)


def test_linear_with_friction_slides_and_stops():
    # A block on a table: x' = 1 - mu g t, and it stops after x = 1/(2 mu g).
    m = saltus.linear(np.eye(2), np.zeros((2, 2)), np.zeros((2, 2)), [[0, 1]], mu=0.5, HT=[[1, 0]], f=[0, -10],
                      u0=[1, 0])
    assert m.simulate(t_end=1).at(1.0)["q1"] == pytest.approx(0.1, abs=1e-9)


def test_all_results_are_pickled():
    m = saltus.load(models / "rocking-bar.toml")
    for r in (m.check(), m.sensitivity(wrt="mu", t_end=0.2), m.basin(phi=(-0.2, 0.2, 3), t_max=1, no_certify=True)):
        copy = pickle.loads(pickle.dumps(r))
        assert type(copy) is type(r) and copy.to_dict() == r.to_dict()
    np.testing.assert_array_equal(copy.label, r.label)


def test_initial_values_are_set_by_name():
    m = saltus.model(BALL, y=20, **{"y'": -1})
    assert m.initial == ({"y": 20.0}, {"y": -1.0})
    assert m.simulate(t_end=2.5).events[0].t == pytest.approx((-1 + math.sqrt(401)) / 10, abs=1e-10)
    assert m.check().energy.kinetic == pytest.approx(0.5)


def test_progress_is_shown_where_it_is_wanted(capsys):
    saltus.model(BALL, e=1).simulate(t_end=1e9, seconds=0.5, progress=True)
    shown = capsys.readouterr().err
    assert "%" in shown and "s left" in shown
    saltus.model(BALL, e=1).simulate(t_end=1e9, seconds=0.5)  # no terminal, no bar
    assert capsys.readouterr().err == ""
    saltus.load(models / "rocking-bar.toml").basin(phi=(-0.5, 0.5, 40), t_max=3, no_certify=True, progress=True)
    assert "%" in capsys.readouterr().err


def test_examples_of_the_docstrings():
    import doctest

    folder = os.getcwd()
    os.chdir(models.parent)
    try:
        found = doctest.testmod(saltus._model, extraglobs={"saltus": saltus})
    finally:
        os.chdir(folder)
    assert found.failed == 0 and found.attempted > 8


def test_stubs_name_what_the_module_has():
    import ast

    tree = ast.parse((Path(saltus.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert set(saltus.__all__) == set(classes) | functions
    for name, node in classes.items():
        for member in node.body:
            if isinstance(member, ast.FunctionDef):
                assert hasattr(getattr(saltus, name), member.name), f"{name}.{member.name}"
        named = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
        named |= {member.target.id for member in node.body if isinstance(member, ast.AnnAssign)}
        public = {member for member in vars(getattr(saltus, name)) if not member.startswith("_")}
        assert public <= named, f"{name}: the stubs lack {public - named}"


def test_pages_in_notebooks():
    page = saltus.model(BALL).simulate()._repr_html_()
    assert page.startswith("<iframe") and "ball" in page
    assert "<iframe" in saltus.load(models / "rocking-bar.toml").equilibria()._repr_html_()


def test_datasets():
    pytest.importorskip("xarray")
    r = saltus.model(BALL).simulate()
    assert float(r.to_xarray()["y'"][-1]) == r["y'"][-1]
    b = saltus.load(models / "rocking-bar.toml").basin(phi=(-0.2, 0.2, 3), **{"phi'": (-1, 1, 2)}, t_max=1)
    assert b.to_xarray()["label"].shape == (3, 2)


def test_plots():
    pytest.importorskip("matplotlib").use("Agg")
    r = saltus.model(BALL).simulate()
    assert r.plot("y", "y'").get_xlabel() == "t"
    assert r.plot("y'", over="y").get_ylabel() == "y'"


def test_plots_of_basins_have_the_label_of_each_start():
    pytest.importorskip("matplotlib").use("Agg")
    bar = saltus.load(models / "rocking-bar.toml")
    b = bar.basin(phi=(-1.4, 1.4, 4), **{"phi'": (-4, 4, 3)}, x=0.1)
    ax = b.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("phi", "phi'")
    cells = ax.collections[0]
    assert len(set(b.label)) > 1 and cells.get_array().size == 12
    labels = np.unique(b.label)[np.asarray(cells.get_array()).reshape(3, 4).astype(int)]
    for start, label in zip(b.starts, b.label):
        phi, omega = start[b.columns.index("phi")], start[b.columns.index("phi'")]
        assert labels[round((omega + 4) / 4), round((phi + 1.4) / 2.8 * 3)] == label
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [b.labels[str(x)] for x in np.unique(b.label)]
    assert b.plot() is not ax  # a figure of its own
    points = bar.basin(box={"phi": (-0.2, 0.2), "phi'": (-1, 1)}, samples=5, t_max=1).plot().collections[0]
    assert len(points.get_offsets()) == 5
    with pytest.raises(saltus.Error, match="3 coordinates vary"):
        bar.basin(phi=(-0.2, 0.2, 2), x=(0.1, 0.2, 2), **{"phi'": (-1, 1, 2)}, t_max=1).plot()


def test_the_example_of_h5py_in_the_documentation_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("h5py")
    page = (models.parent / "docs" / "python.md").read_text(encoding="utf-8")
    lines = [line[4:] for line in page.split("with h5py alone:")[1].splitlines() if line.startswith("    ")]
    monkeypatch.chdir(tmp_path)
    assert program("simulate", models / "bouncing-ball.toml", "--out", "run", "--quiet").returncode == 0
    exec("\n".join(lines), {})
    assert "0.45152364" in capsys.readouterr().out


def test_tables():
    r = saltus.model(BALL).simulate()
    pytest.importorskip("pandas")
    assert list(r.to_dataframe().columns) == ["t", "y", "y'"]
    events = r.events.to_dataframe()
    assert events["kind"][0] == "impact" and events["y' before"][0] == pytest.approx(-10)
    assert events["contacts"][0] == "floor" and events["y' after"][0] == pytest.approx(5)
    b = saltus.load(models / "rocking-bar.toml").basin(phi=(-0.2, 0.2, 3), **{"phi'": (-1, 1, 2)}, t_max=1)
    assert list(b.to_dataframe().columns) == ["phi", "phi'", "label", "time"] and len(b.to_dataframe()) == 6


def test_the_examples_of_the_documentation_run(tmp_path, monkeypatch):
    page = (models.parent / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in page.split("```python\n")[1:]]
    assert len(blocks) >= 5
    (tmp_path / "models").symlink_to(models)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert names["r"].status == "completed"
    assert abs(names["block"].simulate(t_end=1).at(1.0)["q1"] - 0.1) < 1e-9
