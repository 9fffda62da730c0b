"""Rewrites a program so that a unit computes each product of its jaxpr."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import update_wrapper
from itertools import product as pairs
from typing import Any
from weakref import WeakKeyDictionary

import jax
import numpy as np
from jax import numpy as jnp
from jax.extend import linear_util, source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun

from softmma._units import Instruction
from softmma.jax._contraction import ROLES, Computing, computing
from softmma.jax._operations import LABELS, equation_of_unit
from softmma.jax._report import KINDS, Record, Report
from softmma.recipes import Recipe, Role

# Operations that multiply and add, or whose arithmetic JAX does not disclose.
_OUTSIDE = {
    "approx_top_k", "cholesky", "custom_call", "eig", "eigh", "ffi_call", "fft",
    "geqp3", "geqrf", "hessenberg", "householder_product", "io_callback", "lu", "pallas_call", "pure_callback", "qr",
    "ragged_dot", "ragged_dot_general", "scaled_dot", "scaled_matmul", "schur", "svd", "triangular_solve",
    "tridiagonal", "tridiagonal_solve", "xla_call_module",
}  # fmt: skip


_Role = Role | None
"""The role of a value; None for a value computed only from constants in the program."""

_DERIVATIVE, _OPERANDS = "derivative", "operands"
"""Why roles are unknown: within a derivative, or for operands that a JAX operation passes to its programs."""


class Emulation:
    """The function that `emulate` returns; ``report()`` lists the products it emulated, and those it did not."""

    def __init__(self, function: Callable[..., Any], how: Computing, weights: tuple[int | str, ...], strict: bool):
        self._function = function
        self._record = Record()
        self._how = replace(how, record=self._record)
        self._weights = weights
        self._strict = strict
        self._known: WeakKeyDictionary[Any, dict[Any, tuple[Any, list[_Role]]]] = WeakKeyDictionary()
        update_wrapper(self, function, updated=())  # not __dict__, which holds the settings of an Emulation

    def report(self) -> Report:
        """Returns the products emulated so far, and the operations of the traced programs that are left to JAX."""
        return self._record.report()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree.flatten((args, kwargs))
        paths = [path for path, _ in jax.tree_util.tree_flatten_with_path((args, kwargs))[0]]
        names = [path[1].idx if path[0].idx == 0 else path[1].key for path in paths]  # positions, or keywords
        roles: list[_Role] = ["weights" if name in self._weights else "activations" for name in names]
        if missing := set(self._weights).difference(names):
            raise ValueError(f"softmma.jax.emulate: weights: this call has no argument {', '.join(map(repr, missing))}")
        traced = [i for i, leaf in enumerate(leaves) if isinstance(leaf, (jax.Array, np.ndarray, np.generic))]

        def function(arrays: list[Any]) -> Any:
            whole = list(leaves)
            for i, array in zip(traced, arrays):
                whole[i] = array
            args, kwargs = jax.tree.unflatten(tree, whole)
            return self._function(*args, **kwargs)

        arrays = [jnp.asarray(leaves[i]) for i in traced]
        program, outline = jax.make_jaxpr(function, return_shape=True)(arrays)
        emulated = self._closed(program, [roles[i] for i in traced])
        return jax.tree.unflatten(jax.tree.structure(outline), jaxpr_as_fun(emulated)(*arrays))

    # The roles of a jaxpr's operands are known if `unknown` is None. Otherwise `unknown` says why they are not, and
    # only products that do not depend on roles are emulated.

    def _closed(self, closed: Any, roles: list[_Role], unknown: str | None = None) -> Any:
        return ClosedJaxpr(self._rewritten(closed.jaxpr, roles, unknown)[0], closed.consts)

    def _rewritten(self, jaxpr: Any, roles: Sequence[_Role], unknown: str | None) -> tuple[Any, list[_Role]]:
        """Returns the same program with the unit's products, and the roles of its results."""
        known = self._known.setdefault(jaxpr, {})
        key = (*roles, unknown)
        if key not in known:
            role: dict[Any, _Role] = dict(zip(jaxpr.invars, roles))

            def role_of(x: Any) -> _Role:
                return None if isinstance(x, Literal) else role.get(x, "activations")

            equations = []
            for equation in jaxpr.eqns:
                equation, results = self._equation(equation, [role_of(x) for x in equation.invars], unknown)
                role.update(zip(equation.outvars, results))
                equations.append(equation)
            known[key] = jaxpr.replace(eqns=equations), [role_of(x) for x in jaxpr.outvars]
        return known[key]

    def _equation(self, equation: Any, roles: list[_Role], unknown: str | None) -> tuple[Any, list[_Role]]:
        name = equation.primitive.name
        if unknown is None and "transpose(" in str(equation.source_info.name_stack):
            unknown = _DERIVATIVE
        moved = roles[:1] if name == "dynamic_slice" else roles
        results = [_joined(moved)] * len(equation.outvars)
        if name in LABELS:
            equation = self._product(equation, roles, unknown)
        elif name in _OUTSIDE:
            self._leave(equation, name)
        elif inner := self._inner(equation, roles, unknown):
            params, results = inner
            equation = equation.replace(params={**equation.params, **params})
        return equation, results

    def _product(self, equation: Any, roles: list[_Role], unknown: str | None) -> Any:
        if not all(jnp.issubdtype(x.aval.dtype, jnp.floating) for x in (*equation.invars, *equation.outvars)):
            self._leave(equation, equation.primitive.name)
            return equation
        if unknown == _OPERANDS and not self._how.is_uniform:
            self._leave(equation, equation.primitive.name)
            return equation
        if unknown and not self._how.is_uniform:
            raise ValueError(
                f"softmma.jax.emulate: {_place(equation)}: a product of a derivative, whose gradients nothing tells"
                f" from activations, as recipe {self._how.recipe.name!r} must; differentiate the emulated function"
                " instead: jax.grad(softmma.jax.emulate(f)), and use softmma.jax.dot_general in derivatives of your own"
            )
        return equation_of_unit(equation, roles, self._how)

    def _leave(self, equation: Any, name: str) -> None:
        """Leaves an operation to JAX and reports it."""
        arrays = ", ".join(x.aval.str_short() for x in equation.invars if hasattr(x.aval, "str_short"))
        if self._strict:
            raise NotImplementedError(f"softmma.jax.emulate: {_place(equation)}: {name} of {arrays} is not emulated")
        self._record.outside.setdefault((name, arrays), set()).add(_place(equation))

    # ---- Programs in equations: jit, scan, while, cond, remat, custom derivatives ----

    def _inner(
        self, equation: Any, roles: list[_Role], unknown: str | None
    ) -> tuple[dict[str, Any], list[_Role]] | None:
        """Rewrites the parameters of an equation that hold programs or functions. Returns these parameters and the
        roles of the equation's results."""
        name, params = equation.primitive.name, equation.params
        found: dict[str, Any] = {}
        nothing: list[_Role] = ["activations"] * len(equation.outvars)
        results = [nothing]
        if name == "scan":
            roles = self._carried(params["jaxpr"], roles, *_consts_and_carry(params, roles), unknown)
        elif name == "while":
            conditions = params["cond_nconsts"]
            loop = params["body_jaxpr"], roles[conditions:], params["body_nconsts"], len(nothing)
            roles = roles[:conditions] + self._carried(*loop, unknown)
        for key, value in params.items():
            if isinstance(value, (Jaxpr, ClosedJaxpr)):
                found[key], of = self._program(value, _operands(name, key, params, roles), unknown)
                if key != "cond_jaxpr":
                    results = [of]
            elif isinstance(value, tuple) and value and all(isinstance(x, (Jaxpr, ClosedJaxpr)) for x in value):
                parts = [self._program(x, _operands(name, key, params, roles), unknown) for x in value]
                programs = [x for x, _ in parts]
                found[key] = type(value)(*programs) if hasattr(value, "_fields") else tuple(programs)
                results = [of for _, of in parts]
            elif isinstance(value, linear_util.WrappedFun):
                found[key] = self._function_of(key, value, roles[params.get("num_consts", 0) :], unknown)
        if not found:
            return None
        if any(len(of) != len(equation.outvars) for of in results):
            results = [nothing]
        return found, [_joined(each) for each in zip(*results)]

    def _program(self, x: Any, roles: list[_Role], unknown: str | None) -> tuple[Any, list[_Role]]:
        jaxpr = x.jaxpr if isinstance(x, ClosedJaxpr) else x
        if len(jaxpr.invars) != len(roles):
            roles, unknown = ["activations"] * len(jaxpr.invars), _OPERANDS
        new, results = self._rewritten(jaxpr, roles, unknown)
        return (ClosedJaxpr(new, x.consts) if isinstance(x, ClosedJaxpr) else new), results

    def _carried(self, body: Any, roles: list[_Role], consts: int, count: int, unknown: str | None) -> list[_Role]:
        """Returns the roles of a loop's carried values; a value is weights only if it is in every iteration."""
        while True:
            after = self._program(body, roles, unknown)[1][:count]
            carried = [_joined(each) for each in zip(roles[consts : consts + count], after)]
            if carried == roles[consts : consts + count]:
                return roles
            roles = roles[:consts] + carried + roles[consts + count :]

    def _function_of(self, key: str, function: Any, roles: list[_Role], unknown: str | None) -> Any:
        """Rewrites the function of a custom derivative. This function either returns a program or is itself the
        backward pass."""

        def program(*zeros: Any) -> Any:
            jaxpr, *rest = function.call_wrapped(*zeros)
            operands = roles
            if key == "jvp_jaxpr_fun":
                operands = operands + [role for role, zero in zip(roles, zeros) if not zero]
            return self._program(jaxpr, operands, unknown)[0], *rest

        def backward(*args: Any) -> Any:
            arrays = [x for x in args if isinstance(x, jax.Array)]
            outline: list[Any] = []  # the tree of results, and its leaves as they are during tracing

            def traced(*arrays: Any) -> list[Any]:
                taken = iter(arrays)
                results = function.call_wrapped(*(next(taken) if isinstance(x, jax.Array) else x for x in args))
                leaves, tree = jax.tree.flatten(results)
                outline[:] = tree, leaves
                return [x for x in leaves if isinstance(x, jax.Array)]

            program = jax.make_jaxpr(traced)(*arrays)
            found = iter(jaxpr_as_fun(self._closed(program, ["activations"] * len(arrays), _DERIVATIVE))(*arrays))
            tree, leaves = outline  # a leaf that is no array is one of JAX's symbolic zeros
            return jax.tree.unflatten(tree, [next(found) if isinstance(x, jax.Array) else x for x in leaves])

        return linear_util.wrap_init(backward if key == "bwd" else program, debug_info=function.debug_info)


def _joined(roles: Iterable[_Role]) -> _Role:
    """Returns the role of a value that is computed from inputs with these roles: "weights" if all inputs are weights,
    otherwise "activations"."""
    found = set(roles) - {None}
    return None if not found else "weights" if found == {"weights"} else "activations"


def _consts_and_carry(params: dict[str, Any], operands: Sequence[Any]) -> tuple[int, int]:
    """Returns how many operands of a scan are constants, and how many are carried."""
    if "ft_in" in params:  # JAX 0.12
        consts, carry, _ = params["ft_in"].update(operands).unpack()
        return len(list(consts)), len(list(carry))
    return params["num_consts"], params["num_carry"]


def _operands(name: str, key: str, params: dict[str, Any], roles: list[_Role]) -> list[_Role]:
    """Returns the roles of a program's operands, which are some or all operands of the equation."""
    if name == "cond":
        return roles[1:]
    if name == "while":
        conditions, bodies = params["cond_nconsts"], params["body_nconsts"]
        return roles[:conditions] + roles[conditions + bodies :] if key == "cond_jaxpr" else roles[conditions:]
    return roles


def _place(equation: Any) -> str:
    """Returns the line of the user's code that calls the operation, if JAX knows it."""
    return str(source_info_util.summarize(equation.source_info)) or "in a function of JAX"


def emulate(
    function: Callable[..., Any],
    on: str | Instruction = "H100",
    recipe: str | Recipe = "bf16",
    *,
    weights: int | str | Sequence[int | str] | None = None,
    strict: bool = False,
    seed: int = 0,
    threads: int = 0,
) -> Emulation:
    """Returns the function with its products computed as by a GPU's matrix unit, forward and backward.

        loss = softmma.jax.emulate(loss, "H100", "fp8_tensorwise", weights=0)
        step = jax.jit(jax.value_and_grad(loss))

    Emulated are each dot_general (jax.numpy's matmul, dot, einsum, ... use it) and each convolution of floating-point
    arrays, also in jit, scan, while, cond, remat, shard_map and custom derivatives. They become `dot_general` and
    `conv_general_dilated` of this module. JAX itself computes products of integers and complex numbers, factorisations,
    and operations that JAX does not let a program inspect. The returned function's ``report()`` lists them, and with
    ``strict`` they raise NotImplementedError.

    ``weights`` are the arguments whose arrays are weights, by position or name. Values computed from weights only are
    weights, too. All other values are activations, also arrays that the function captures. Leave ``weights`` out for a
    recipe that treats weights and activations alike.

    Differentiate the emulated function, jax.grad(emulate(f)), so that gradients are recognised. emulate(jax.grad(f))
    raises ValueError if the recipe treats gradients differently.

    Arrays are traced, as by `jax.jit`; other arguments are passed unchanged. Outside `jax.jit` each call traces again.
    """
    how = computing(recipe, on, threads, seed)
    if any(how.unit.operand(role, kind).history for role, kind in pairs(ROLES, KINDS)):
        raise ValueError(
            f"recipe {how.recipe.name!r}: delayed scaling keeps a history of magnitudes for each place, which the"
            " function does not take: softmma.jax.dot_general and conv_general_dilated do, as histories=;"
            " fp8_tensorwise scales by the tensor itself"
        )
    if weights is None:
        if not how.is_uniform:
            raise ValueError(
                f"recipe {how.recipe.name!r} treats weights in a way of their own: say which arguments hold them,"
                " weights=0, or weights=() if none does"
            )
        weights = ()
    which = (weights,) if isinstance(weights, (int, str)) else tuple(weights)
    return Emulation(function, how, which, strict)
