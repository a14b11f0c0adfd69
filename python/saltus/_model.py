# SPDX-License-Identifier: Apache-2.0
"""Models, and the questions that can be asked of them."""

import csv
import math
import os
import re
import tempfile
from pathlib import Path

import numpy as np

from . import _core
from ._error import Error, not_finite
from ._motion import Motion
from ._program import option_name, option_words, run
from ._progress import bar
from ._result import Result


def _value(value, name=""):
    """A parameter value as the program reads it."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise not_finite(name, value)
    return repr(value) if isinstance(value, float) else str(value)


def _range(value):
    """The values of an axis as the program reads them: (from, to, n) or (from, to, n, "log") are a range, an array is a
    list of values, a number is one value, and ("normal", mean, deviation) is a distribution."""
    if isinstance(value, str):
        return value
    if isinstance(value, (tuple, list)):
        if any(isinstance(v, (tuple, list, np.ndarray)) for v in value):
            raise TypeError(f"{value!r} is no range: write (from, to, n), or an array of values")
        return ":".join(v if isinstance(v, str) else _value(v) for v in value)
    if isinstance(value, np.ndarray) and value.ndim:
        return ",".join(_value(v) for v in value.ravel())
    return _value(value)


def _axes(ranges):
    """Texts such as x=-1:1:20 from a dictionary, a text or a list of texts."""
    if isinstance(ranges, str):
        return [ranges]
    if hasattr(ranges, "items"):
        return [f"{name}={_range(value)}" for name, value in ranges.items()]
    return list(ranges)


class Model:
    """A model. `load` and `model` make one.

    `name`, `coordinates`, `parameters` (values), `initial` (q and u at the start), `text` (the model file)

    >>> m = saltus.load("models/bouncing-ball.toml")
    >>> m.coordinates, m.parameters["g"]
    (['y'], 9.81)
    """

    def __init__(self, text, file="model.toml", /, *, project_initial=False, **parameters):
        self.text, self.file = text, file
        self._set = {name: _value(value, name) for name, value in parameters.items()}
        self._project = project_initial
        self._core = _core.load(text, file, list(self._set.items()), False, project_initial)

    @property
    def name(self):
        return self._core.name

    @property
    def coordinates(self):
        return list(self._core.coordinates)

    @property
    def parameters(self):
        return dict(self._core.parameters)

    @property
    def initial(self):
        """The initial state: two dictionaries, positions and velocities."""
        q, u = self._core.initial
        return dict(zip(self.coordinates, q)), dict(zip(self.coordinates, u))

    def with_(self, /, **parameters):
        """The same model with other values of parameters, or of initial positions and velocities.

        >>> m = saltus.load("models/bouncing-ball.toml").with_(e=0.5, y=2)
        >>> m.initial[0]
        {'y': 2.0}
        """
        return Model(self.text, self.file, **{"project_initial": self._project, **self._set, **parameters})

    def __repr__(self):
        changes = "".join(f", {name}={value}" for name, value in self._set.items())
        return f"<saltus model '{self.name}', coordinates {', '.join(self.coordinates)}{changes}>"

    def __reduce__(self):
        return _build, (self.text, self.file, {"project_initial": self._project, **self._set})

    # The questions, in the order of the program's commands.

    def check(self, **options):
        """What the model is: `saltus check`."""
        return self._ask("check", options)

    def simulate(self, t_end=None, *, samples=1001, progress=None, perturbed=False, project_initial=False,
                 vary=None, box=None, **options):
        """How does it move? A `Motion`. With `vary` or `box` many motions, a `Study`. Options are those of
        `saltus simulate`: method, h, theta, rtol, atol, max_step, implicit, restitution, strict_energy, repair_energy, seconds. Ctrl-C ends the motion, which keeps
        what exists with the status "interrupted". A motion of more than two seconds shows a progress bar in terminals
        and notebooks; progress=False shows none.

        >>> r = saltus.load("models/bouncing-ball.toml").simulate(t_end=1)
        >>> r.status, round(r.events[0].t, 6)
        ('completed', 0.451524)

        vary={"e": (0.5, 0.9, 5)} runs the model for many values of parameters, initial positions `y` and velocities `y'`;
        box={"e": ("normal", 0.7, 0.1)} with `samples` runs it for random ones. `ask` is what is wanted of each motion
        (`saltus simulate --ask`): end, rest, first(impact), count(slip, left), lowest(x), highest(x), mean(x),
        section(x = 0).

        >>> s = saltus.load("models/bouncing-ball.toml").simulate(2, vary={"e": (0.5, 0.9, 3)}, ask=["first(impact)", "rest"])
        >>> s.starts[:, 0], s.answers["rest"].round(4)
        (array([0.5, 0.7, 0.9]), array([1.3546,    nan,    nan]))
        """
        if vary is not None or box is not None:
            words = {"t_end": t_end, "perturbed": perturbed, "project_initial": project_initial, "progress": progress,
                     **options}
            return self._study(words, vary, box, samples)
        if options.get("ask") is not None:
            raise Error("ask is for many motions", remedy="give vary={...}, or box={...} with samples")
        given = {"t_end": t_end, **options}
        command = simulate_command(self.file, given, samples)
        core = self._core
        if perturbed or project_initial:
            project = project_initial or self._project
            core = _core.load(self.text, self.file, list(self._set.items()), perturbed, project)
        shown = {**given, "perturbed": perturbed, "project_initial": project_initial}
        with bar(progress) as show:
            return Motion(_core.simulate(core, command, show), self, shown, samples)

    def _study(self, words, vary, box, samples):
        if vary is not None:
            words["vary"] = _axes(vary)
        if box is not None:
            words = {**words, "box": _axes(box), "samples": samples}
        if isinstance(words.get("ask"), str):
            words["ask"] = [words["ask"]]
        with tempfile.TemporaryDirectory() as out:
            folder = Path(words.pop("out", None) or Path(out) / "study")
            document, code, command = self._run("simulate", {**words, "out": str(folder)})
            return Study(document, code, command, folder / "study.csv")

    def sensitivity(self, wrt=None, **options):
        """How sensitive is the motion? `saltus sensitivity`; `at_end` are the derivatives of the final state,
        `event_times` those of the event times.

        >>> d = saltus.load("models/bouncing-ball.toml").sensitivity(wrt="g", t_end=1)
        >>> round(d.event_times[0]["dt"]["g"], 6)  # the first impact is at sqrt(2/g)
        -0.023013
        """
        words = {"wrt": ",".join([wrt] if isinstance(wrt, str) else wrt) if wrt else None, **options}
        document, code, command = self._run("sensitivity", words)
        return Sensitivity(document, code, command)

    def impact(self, **options):
        """Do impacts create energy? One collision of the model: `saltus impact`. Velocities and positions are
        dictionaries: u_minus={"x": -1}."""
        return self._ask("impact", options)

    def equilibria(self, **options):
        """Where can it rest? `saltus equilibria`."""
        return self._ask("equilibria", options)

    def certify(self, **options):
        """Is rest attractive? `saltus certify`. For a model with [control]: Does the controller reach its goal?"""
        return self._ask("certify", options)

    def orbit(self, **options):
        """What does it do in the long run? A periodic orbit and its multipliers: `saltus orbit`."""
        return self._ask("orbit", options)

    def continue_(self, over, **options):
        """Periodic orbits or equilibria over a parameter: `saltus continue`. `over` is "A=0.02:1.5"; the option --and is
        given as `and_="w=0.9:1.1"`."""
        return self._ask("continue", {"over": over, **options})

    branch = continue_

    def diagram(self, over, **options):
        """Long motions for many values of a parameter: `saltus diagram`. `over` is "A=0.02:1.5:200"."""
        return self._ask("diagram", {"over": over, **options})

    def compare(self, **options):
        """Event-driven, Moreau and penalty side by side: `saltus compare`."""
        return self._ask("compare", options)

    def basin(self, grid=None, **options):
        """Which equilibrium set or periodic orbit each start reaches: `saltus basin`. The grid is a dictionary of
        coordinates, velocities and parameters, or keywords that are names of coordinates:
        `m.basin(phi=(-1.4, 1.4, 200), **{"phi'": (-4, 4, 200)}, t_max=20)`. A number fixes a coordinate, an array lists
        values. Random starts: `m.basin(samples=1000, box={"phi": (-1, 1), "mu": ("normal", 0.3, 0.05)}, t_max=20)`.
        Orbits: period="2*pi/w", or section="x = 0"."""
        grid = dict(grid or {})
        states = [*self.coordinates, *(name + "'" for name in self.coordinates)]
        for name in [key for key in options if key in states]:
            grid[name] = options.pop(name)
        words = dict(options)
        if grid:
            words["grid"] = _axes(grid)
        if words.get("box") is not None:
            words["box"] = _axes(words["box"])
        with tempfile.TemporaryDirectory() as out:
            document, code, command = self._run("basin", {**words, "out": str(Path(out) / "basin")})
            tables = [Path(out) / "basin" / name for name in ("basin.csv", "basin-partial.csv")]
            return Basin(document, code, command, tables[0] if tables[0].exists() else tables[1])

    def _words(self, command, options, folder):
        """The words of a command line. The model is written into the folder."""
        file = Path(folder) / (Path(self.file).name or "model.toml")
        file.write_text(self.text, encoding="utf-8")
        words = [command, str(file)]
        for name, value in self._set.items():
            words += ["--set", f"{name}={value}"]
        if self._project:
            options = {**options, "project_initial": True}
        return words + option_words(options)

    def _run(self, command, options):
        options = dict(options)
        progress = options.pop("progress", None)
        with tempfile.TemporaryDirectory() as folder:
            try:
                document, code = run(self._words(command, options, folder), progress=progress)
            except Error as e:
                self._refuse_unknown(command, options, e)
                if e.file.startswith(folder):  # name the user's file, not its copy
                    raise Error(e.message, self.file, e.line, e.column, e.remedy) from None
                raise
        copy = str(Path(folder) / (Path(self.file).name or "model.toml"))
        for key in ("file", "identity"):  # name the user's file, not its copy
            if isinstance(document.get(key), str):
                document[key] = document[key].replace(copy, self.file)
        shown = {key: value for key, value in options.items() if key != "out"}
        return document, code, Words(self, command, shown)

    def _refuse_unknown(self, command, options, error):
        """Raises a TypeError that names the keyword which the program does not know as an option."""
        told = re.match(r"unknown option '(--[^']*)'", error.message)
        unknown = [key for key in options if told and option_name(key) == told[1]]
        if not unknown:
            return
        also = f" and the model no coordinate, it has {', '.join(self.coordinates)}" if command == "basin" else ""
        meant = re.match(r"did you mean '--([^']*)'", error.remedy)
        remedy = (f"did you mean '{meant[1].replace('-', '_')}'?" if meant
                  else f"`saltus {command} --help` lists the options")
        raise TypeError(f"{command}() has no option '{unknown[0]}'{also}; {remedy}") from None

    def _ask(self, command, options):
        return Result(*self._run(command, options))


def simulate_command(file, given, samples):
    """The options of a motion for the compiled part."""
    if samples < 2:
        raise Error(f"samples is {samples}, it must be at least 2")
    command = _core.SimulateOptions()
    command.file = file
    for key, value in given.items():
        if value is None:
            continue
        if key not in _simulate_options:
            raise TypeError(f"simulate() has no option '{key}'; it has {', '.join(sorted(_simulate_options))}")
        try:
            setattr(command, key, os.fspath(value) if key == "restart" else value)
        except TypeError:
            raise TypeError(f"simulate(): {key} is {value!r}, which is of the wrong type") from None
    return command


class Words:
    """The words of a command line about a model; a value, so that results can be pickled."""

    def __init__(self, model, command, options):
        self._model, self._command, self._options = model, command, options

    def __call__(self, folder):
        return self._model._words(self._command, self._options, folder)


_simulate_options = {"t_end", "h", "theta", "rtol", "atol", "method", "restitution", "max_step", "implicit",
                     "strict_energy", "repair_energy", "restart", "seconds"}


class Sensitivity(Result):
    """Derivatives of a motion."""

    @property
    def at_end(self):
        """Derivatives of the final state: at_end["x"]["mu"], at_end["x'"]["mu"]."""
        final = self._document["final"]
        return {**final["q"], **{name + "'": value for name, value in final["u"].items()}}

    @property
    def event_times(self):
        """A list with an entry for each event: its time `t`, its `kind`, and `dt`, the derivatives of the time."""
        return [{"t": e["t"], "kind": e["kind"], "dt": e.get("dt")} for e in self._document["events"]]


class Study(Result):
    """Many motions. `starts` has one row for each motion (columns `columns`), `outcome` its status, `answers` a dictionary
    with an array for each number that was asked for. A study that was interrupted has the motions that were made."""

    def __init__(self, document, code, command, table):
        super().__init__(document, code, command)
        self.columns = list(document.get("vary", {}))
        self.starts, self.outcome, self.answers = np.zeros((0, len(self.columns))), [], {}
        if not os.path.exists(table):  # the run was interrupted before its first motion
            return
        with open(table, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        head, status = rows[0], rows[0].index("status")
        self.columns = head[:status]
        self.starts = np.array([[float(x) for x in row[:status]] for row in rows[1:]]).reshape(-1, status)
        self.outcome = [row[status] for row in rows[1:]]
        self.answers = {name: np.array([float(row[k] or "nan") for row in rows[1:]])
                        for k, name in enumerate(head) if k > status}

    def to_dataframe(self):
        """A pandas.DataFrame with a row for each motion."""
        import pandas

        return pandas.DataFrame({**{name: self.starts[:, k] for k, name in enumerate(self.columns)},
                                 "status": self.outcome, **self.answers})


class Basin(Result):
    """Which equilibrium set or orbit each start reaches. `starts` has one row for each start (columns `columns`), `label` its
    label, `time` the time at which it got there. A basin that was interrupted has the starts whose motions were computed.
    `table` is the file basin.csv of the result, or basin-partial.csv."""

    def __init__(self, document, code, command, table):
        super().__init__(document, code, command)
        if not os.path.exists(table):  # the run was interrupted before its first motion
            self.columns = list(document["grid"]["coordinates"])
            self.starts, self.label, self.time = np.zeros((0, len(self.columns))), np.zeros(0, dtype=int), np.zeros(0)
            return
        with open(table, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        head = rows[0]
        label = head.index("label")
        self.columns = head[:label]
        self.starts = np.array([[float(x) for x in row[:label]] for row in rows[1:]]).reshape(-1, label)
        self.label = np.array([int(row[label]) for row in rows[1:]])
        self.time = np.array([float(row[label + 1] or "nan") for row in rows[1:]])

    def to_dataframe(self):
        """A pandas.DataFrame with a row for each start: its values, its label and the time at which it got there."""
        import pandas

        return pandas.DataFrame({**{name: self.starts[:, k] for k, name in enumerate(self.columns)},
                                 "label": self.label, "time": self.time})

    def _grid(self):
        """The axes of the grid and the place of each start in it, or None if the starts are no grid, or only a part of one."""
        axes = [np.unique(self.starts[:, k]) for k in range(len(self.columns))]
        if np.prod([len(a) for a in axes]) != len(self.starts):
            return None
        return axes, tuple(np.searchsorted(a, self.starts[:, k]) for k, a in enumerate(axes))

    def to_xarray(self):
        """An xarray.Dataset of label and time over the axes of the grid."""
        import xarray

        if self._grid() is None:
            raise Error("the starts are not a grid", remedy="use to_dataframe()")
        axes, where = self._grid()
        shape = [len(a) for a in axes]
        label, time = np.zeros(shape, dtype=int), np.full(shape, np.nan)
        label[where], time[where] = self.label, self.time
        return xarray.Dataset({"label": (self.columns, label), "time": (self.columns, time)},
                              coords=dict(zip(self.columns, axes)))

    def plot(self, ax=None):
        """Draws the labels with matplotlib over the two coordinates that vary, in a new figure if `ax` is not given. Each
        start of a grid is a cell; other starts are points. Returns the axes."""
        import matplotlib.pyplot as plt

        varied = [k for k in range(len(self.columns)) if len(np.unique(self.starts[:, k])) > 1] or [0]
        if len(varied) > 2:
            raise Error(f"{len(varied)} coordinates vary: {', '.join(self.columns[k] for k in varied)}",
                        remedy="a picture has two; draw a slice of to_xarray()")
        ax = ax or plt.subplots()[1]
        names, colours = [self._document["labels"].get(str(x), str(x)) for x in np.unique(self.label)], plt.get_cmap("tab10")
        x, numbers = self.starts[:, varied[0]], np.searchsorted(np.unique(self.label), self.label)
        if len(varied) == 2 and self._grid() is not None:
            axes, where = self._grid()
            cells = np.zeros((len(axes[varied[1]]), len(axes[varied[0]])))
            cells[where[varied[1]], where[varied[0]]] = numbers % 10
            ax.pcolormesh(axes[varied[0]], axes[varied[1]], cells, cmap=colours, vmin=-0.5, vmax=9.5, shading="nearest")
        else:
            y = self.starts[:, varied[1]] if len(varied) == 2 else np.zeros(len(x))
            ax.scatter(x, y, c=numbers % 10, cmap=colours, vmin=-0.5, vmax=9.5, s=9)
        for number, name in enumerate(names):
            ax.plot([], [], "s", color=colours(number % 10), label=name)
        ax.set_xlabel(self.columns[varied[0]])
        ax.set_ylabel(self.columns[varied[1]] if len(varied) == 2 else "")
        ax.legend(loc="upper right")
        return ax


def _build(text, file, parameters):
    return Model(text, file, **parameters)


def load(path, /, *, project_initial=False, **parameters):
    """Reads a model file. Keywords change parameters and initial values. With project_initial=True an initial state in
    which bodies penetrate or constraints do not hold is repaired (--project-initial).

    >>> saltus.load("models/rocking-bar.toml", mu=0.4).parameters["mu"]
    0.4
    >>> saltus.load("models/rocking-bar.toml", nu=0.4)
    Traceback (most recent call last):
    ...
    saltus._error.Error: --set nu: the model has no parameter 'nu'; did you mean 'mu'?
    """
    path = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is not UTF-8 text"
        raise Error(f"cannot be read: {reason}", path) from None
    return Model(text, path, project_initial=project_initial, **parameters)


def model(text, /, *, project_initial=False, **parameters):
    """A model from the text of a model file. Keywords are those of `load`.

    >>> text = "[system]\\nq = ['y']\\nT = \\"y'^2/2\\"\\n"
    >>> saltus.model(text, **{"y'": 2}).simulate(t_end=1).at(1.0)["y"]
    2.0
    """
    return Model(text, "model.toml", project_initial=project_initial, **parameters)
