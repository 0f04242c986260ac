"""A workload's observations, put in order: phases, pods, nodes, and what was said about each."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from matchers.merge import join_all
from matchers.rules import Rules
from schemas.entry import Value
from schemas.observation import Observation

SUSPICIOUS = "log.suspicious"
TERMINAL = ("Failed", "Stopped", "TimedOut", "Preempted")
ENDED = (*TERMINAL, "Completed")
ALIASES = {"Crashed": "Failed", "Succeeded": "Completed"}
# Phases of a workload that lives again after an end.
ALIVE = ("Creating", "Initializing", "Resuming", "Pending", "Running", "Updating", "Degraded")


class Pod(Struct, kw_only=True):
    """All that was seen of one pod."""

    key: str
    name: str = ""
    uid: str = ""
    namespace: str = ""
    created_ms: int = 0  # 0: not known
    nodes: set[str] = field(default_factory=set)
    seen: list[Observation] = field(default_factory=list)

    def of(self, *signals: str) -> list[Observation]:
        """Its observations of any of these signals, by time."""
        return [one for one in self.seen if one.signal in signals]

    @property
    def columns(self) -> list[Observation]:
        """Its STATUS column over time."""
        return self.of("pod.phase")

    @property
    def column(self) -> str:
        """The newest STATUS column."""
        return self.columns[-1].reason if self.columns else ""

    def states(self) -> dict[str, Observation]:
        """The newest state of each container."""
        return {one.where.container: one for one in self.of("container.state")}

    @property
    def first_ms(self) -> int:
        """When it began, as far as anything says."""
        return self.created_ms or min((one.first_ms for one in self.seen), default=0)


class View(Struct, kw_only=True):
    """A workload as its observations show it."""

    rules: Rules
    phases: list[Observation]  # by time, the newest last
    pods: dict[str, Pod]
    own: list[Observation]  # about the workload, its Job, PodGroup, claims; by time
    nodes: dict[str, list[Observation]]
    suspicious: list[Observation]
    policies: list[Observation] = field(default_factory=list)  # a rule or a person ended it

    def facts(self, signal: str) -> list[Observation]:
        """Facts about the workload itself, by time."""
        return [one for one in self.own if one.signal == signal]

    @property
    def phase(self) -> str:
        """The newest phase; empty when none was seen."""
        return phase_name(self.phases[-1]) if self.phases else ""

    @property
    def phase_ms(self) -> int:
        """Since when the newest phase holds: the first of the reports in a row that name it."""
        since = 0
        for one in reversed(self.phases):
            if phase_name(one) != self.phase:
                break
            since = one.first_ms
        return since

    @property
    def spec(self) -> Observation | None:
        """What was submitted."""
        return next(reversed(self.facts("workload.spec")), None)

    def named(self, category: str) -> frozenset[str]:
        """The direct signals of a category."""
        row = self.rules.categories.get(category)
        return frozenset(row.signals if row else ())

    def routed(self, route: str) -> frozenset[str]:
        """The signals of a route."""
        row = self.rules.routes.get(route)
        return frozenset(row.signals if row else ())

    def on_nodes(self, pod: Pod) -> list[Observation]:
        """What was said about the nodes that a pod was on, by time."""
        if len(pod.nodes) == 1:
            return self.nodes.get(next(iter(pod.nodes)), [])
        found = [one for node in sorted(pod.nodes) for one in self.nodes.get(node, ())]
        return sorted(found, key=order)


def phase_name(observation: Observation) -> str:
    """The phase that an observation names, older names as the newer ones."""
    return ALIASES.get(observation.reason, observation.reason)


def order(observation: Observation) -> tuple[int, int]:
    """By time; of equal times the workload object itself and an end come last.

    Total only for what is in the order of its identity already: sorting is stable.
    """
    is_end = observation.signal == "workload.phase" and phase_name(observation) in ENDED
    return (observation.last_ms, int(is_end) + number(observation.attrs, "current"))


def number(attrs: Mapping[str, Value], name: str, default: int = 0) -> int:
    """An attribute as a number; numbers that came as text are numbers too."""
    value = attrs.get(name, default)
    if isinstance(value, int):
        return value
    plain = value.isascii() and value.isdigit() and len(value) < 19
    return int(value) if plain else default


def view_of(observations: Sequence[Observation], rules: Rules) -> View:
    """The observations of one workload, in order. What tries to instruct a reader is set aside."""
    ordered = sorted(join_all(observations), key=order)
    usable = [one for one in ordered if not one.suspicious and one.signal != SUSPICIOUS]
    view = View(
        rules=rules,
        phases=[one for one in usable if one.signal == "workload.phase"],
        pods=_pods(usable),
        own=[one for one in usable if not one.where.pod and not one.where.pod_uid],
        nodes={},
        suspicious=[one for one in ordered if one.signal == SUSPICIOUS],
    )
    view.own = [one for one in view.own if one.where.kind != "Node"]
    named = view.named("SCHEDULING_POLICY_TERMINATED")
    view.policies = [one for one in usable if one.signal in named and one.where.kind != "Node"]
    for one in usable:
        if one.where.kind == "Node":
            view.nodes.setdefault(one.where.node or one.where.name, []).append(one)
    return view


def _pods(observations: Iterable[Observation]) -> dict[str, Pod]:
    """Pods by uid. What names no uid goes to the pod of that name that lived at the time."""
    pods: dict[str, Pod] = {}
    nameless: list[Observation] = []
    for one in observations:
        where = one.where
        if where.kind == "Node" or not (where.pod or where.pod_uid):
            continue
        if not where.pod_uid:
            nameless.append(one)
            continue
        _add(pods.setdefault(where.pod_uid, Pod(key=where.pod_uid, uid=where.pod_uid)), one)
    for one in nameless:
        chosen = _living(pods.values(), one)
        if chosen is None:
            key = f"{one.where.namespace}/{one.where.pod}"
            chosen = pods.setdefault(key, Pod(key=key))
        _add(chosen, one)
    for pod in pods.values():
        pod.seen.sort(key=order)
        if any(one.first_ms < pod.created_ms for one in pod.seen):
            pod.created_ms = 0  # nothing happens to a pod before it is created: a wrong date
    return dict(sorted(pods.items(), key=lambda item: (item[1].name, item[0])))


def _add(pod: Pod, one: Observation) -> None:
    pod.seen.append(one)
    pod.name = pod.name or one.where.pod
    pod.namespace = pod.namespace or one.where.namespace
    pod.created_ms = pod.created_ms or number(one.attrs, "created_ms")
    if one.where.node:
        pod.nodes.add(one.where.node)


def _living(pods: Iterable[Pod], one: Observation) -> Pod | None:
    """The pod that a name meant at a time: the newest that had been created, else the oldest."""
    where = one.where
    named = sorted(
        (
            pod
            for pod in pods
            if pod.name == where.pod
            and (not where.namespace or pod.namespace in ("", where.namespace))
        ),
        key=lambda pod: (pod.created_ms, pod.key),
    )
    living = [pod for pod in named if pod.created_ms <= one.last_ms]
    return living[-1] if living else (named[0] if named else None)
