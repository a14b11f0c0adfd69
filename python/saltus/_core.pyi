# SPDX-License-Identifier: Apache-2.0
from typing import Any, Callable, Optional

import numpy as np

version: str

class Model:
    name: str
    coordinates: list[str]
    parameters: dict[str, float]
    initial: tuple[list[float], list[float]]

class SimulateOptions:
    t_end: Optional[float]
    h: Optional[float]
    theta: Optional[float]
    rtol: Optional[float]
    atol: Optional[float]
    method: str
    restitution: str
    max_step: Optional[float]
    implicit: bool
    strict_energy: bool
    repair_energy: bool
    restart: str
    seconds: float
    file: str

class Table:
    t: np.ndarray
    q: np.ndarray
    u: np.ndarray

class Motion:
    coordinates: list[str]
    elements: list[str]
    start: float
    end: float
    def json(self) -> str: ...
    def at(self, times: np.ndarray, before: bool = ...) -> tuple[np.ndarray, np.ndarray]: ...
    def sample(self, samples: int) -> Table: ...
    def forces(self, table: Table, element: int) -> tuple[np.ndarray, np.ndarray]: ...
    def gaps(self, table: Table, contact: int) -> np.ndarray: ...
    def write(self, path: str) -> None: ...
    def balance(self) -> dict[str, np.ndarray]: ...

def load(text: str, file: str, set: list[tuple[str, str]], perturbed: bool = ...,
         project_initial: bool = ...) -> Model: ...
def simulate(model: Model, options: SimulateOptions,
             progress: Optional[Callable[[float, float], Any]] = ...) -> Motion: ...
def read_motion(model: Optional[Model], path: str) -> Motion: ...
def native(system: Any, name: str, coordinates: list[str], q0: list[float], u0: list[float], contacts: list[str],
           restitutions: list[float]) -> Model: ...
