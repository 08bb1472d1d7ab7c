"""A person asks in words for a change of a test: a model turns them into operations, which pass what repairs pass.

The same floor: whatever would weaken what the test verifies is withheld, with a pointer to where a person makes such a
change (G44-G46). The same proof: what is left is played, and staged or written only on green (G30, G31).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from gardener.actions import sharing
from gardener.actions.entrusting import values_of, whole_of
from gardener.actions.metering import metered
from gardener.actions.playing import access_to, allowed_origins, memory_of, replayer, stage_of, write_run
from gardener.actions.repairing import settle, write_repair
from gardener.errors import BadSetting, Conflict, Refused
from gardener.models import model_of
from gardener.notices import EventKind
from gardener.projects import Project
from gardener.results import Result, operation_shapes, refusal_shapes
from gardener.runs import Trigger
from gardener.saved_tests import SavedTest, may_tend
from gardener.sharing import Sharing
from gardener.store import events, proposals, saved_tests
from gardener.tools import Tools
from radar.at_risk import resolve_ways
from radar.elements import PageSnapshot, fold
from radar.errors import Unresolvable
from repair_ladder import floor, fragments, gate, prompts, replies
from repair_ladder.errors import DoesNotFit
from repair_ladder.harm import ACTING, destructive_word, forbidden_of
from repair_ladder.lessons import page_pattern
from repair_ladder.memory import Memory
from repair_ladder.operations import Operations, apply_operations
from repair_ladder.outcomes import Environment, Green
from repair_ladder.ports import Answered, Unavailable
from repair_ladder.sign_in import with_passwords, without_passwords
from repair_ladder.step_format import read_step
from repair_ladder.steps import Place, Step, show_place, walk
from repair_ladder.values import redactor

CHAT = "chat"  # the strategy of what came of it
WHOSE = "a person makes that change in the step editor, or in the file that `export` writes and `import` reads"


async def edit(tools: Tools, project: Project, name: str, words: str, *, apply: bool, by: str) -> Result:
    """What came of the request. Raises Refused where nobody may change the test this way, NotFound, BadSetting."""
    request = prompts.clean(words)
    if not request or len(request) > prompts.LONGEST_REQUEST:
        raise BadSetting(f"say in at most {prompts.LONGEST_REQUEST} characters what shall be changed")
    async with tools.store.reading() as tx:
        test = await saved_tests.get(tx, project.id, name)
    why = may_tend(test, by_hand=True)
    if why:
        raise Refused(f"'{name}' is not changed: {why}.")
    if shut := project.settings.why_read_only(tools.now()):
        raise Refused(f"'{name}' is not changed now: {shut[0]}.")
    asked = await _asked(tools, project, test, request)
    if isinstance(asked, Result):
        return asked
    operations, calls = asked
    return replace(await _pass(tools, project, test, request, operations, apply=apply, by=by), model_calls=calls)


async def _asked(tools: Tools, project: Project, test: SavedTest, request: str) -> tuple[Operations, int] | Result:
    """The model's operations, which fit the test, and how many calls they took."""
    chosen = model_of(tools.settings, project)
    ask = metered(tools, project, test, None, chosen, tools.ask(project))
    if ask is None:
        why = chosen.trouble or "no model is configured"
        return Result(test.name, "unavailable", f"a request in words needs a model, and none can be asked: {why}")
    values, memory = await values_of(tools, test), await memory_of(tools, test)
    shown, typed = without_passwords(test.steps, memory)
    reply = await ask(
        prompts.edit_question(
            shown,
            request,
            prompts.Fence(secrets.token_hex(16), redactor(values.secrets)),
            variables=sorted(frozenset(values.values) - values.secret_names),
            pages=_pages(test, memory),
        )
    )
    if isinstance(reply, Unavailable):
        return Result(test.name, "unavailable", reply.message)
    if not isinstance(reply, Answered):
        return Result(test.name, "incurable", f"the model's answer was not used: {reply.message}", model_calls=1)
    read = replies.read_operations(reply, test.steps, read_step)
    if isinstance(read, replies.Unreadable):
        return Result(test.name, "incurable", f"the model's answer was not used: {read.reason}", model_calls=1)
    if not read:
        return Result(
            test.name, "incurable", "the model found no change in these words: say it otherwise", model_calls=1
        )
    return tuple(replace(one, new=with_passwords(one.new, typed)) if one.new else one for one in read), 1


def _pages(test: SavedTest, memory: Memory) -> list[tuple[Place, PageSnapshot]]:
    """What the last green run saw, one page for each address: as it was at the last step that was played there."""
    found: dict[str, tuple[Place, PageSnapshot]] = {}
    for place, _ in walk(test.steps):
        seen = memory.at(place)
        if seen is not None:
            address = page_pattern(seen.page.url)
            found.pop(address, None)
            found[address] = (place, seen.page)
    return list(found.values())


async def _pass(
    tools: Tools, project: Project, test: SavedTest, request: str, operations: Operations, *, apply: bool, by: str
) -> Result:
    memory, values = await memory_of(tools, test), await values_of(tools, test)
    whole = whole_of(test, values.shared)
    shared = next((name for one in operations if (name := fragments.home(whole.steps, one.place)[0])), None)
    if shared is not None:
        reason = f"a step of the fragment '{shared}' is not changed by way of '{test.name}': ask for a change of that"
        return Result(test.name, "refused", reason)
    origins = allowed_origins(project, memory)
    screened = floor.screen(
        whole.steps,
        operations,
        variables=frozenset(values.values) - values.secret_names,
        secrets=values.secret_names,
        origins=origins,
    )
    refusals = refusal_shapes(test.steps, screened.refused)
    withheld = f"; withheld: {' '.join(one.reason for one in screened.refused)} {WHOSE}" if screened.refused else ""
    if screened.all_refused:
        reason = f"all of it is withheld: {' '.join(one.reason for one in screened.refused)} {WHOSE}"
        return Result(test.name, "refused", reason, refusals=refusals)
    allowed = screened.allowed
    if forbidden := _forbidden(project, test, allowed):
        return Result(test.name, "refused", f"{forbidden}: nothing was tried{withheld}", refusals=refusals)
    if values.trouble:
        return Result(test.name, "environment", f"it cannot be proved: {values.trouble}{withheld}", refusals=refusals)
    harm = _harm(test, allowed, memory, project.settings.test_id_attribute)
    green: Green | None = None
    if harm is None:
        stage = replace(stage_of(tools, project, test, values), fenced_to=origins)
        access = access_to(tools, project, Trigger.DRY_RUN)
        given = await access.enter() if await access.is_behind(whole, memory) else None
        if isinstance(given, Environment):
            return Result(
                test.name, "environment", f"it cannot be proved: {given.message}{withheld}", refusals=refusals
            )
        play = replayer(tools, access, given, stage, memory, saved=whole.steps)
        # A person says which elements an action means; what has to hold is that the test is green and can go red. What
        # a check looks at stays what it was.
        known = gate.Known(memory) if _moves_a_check(allowed) else gate.Known(Memory(), judges=False)
        judged = await gate.prove_with_red(whole.steps, allowed, known, play)
        match judged:
            case gate.Proof(run=run):
                green = run
            case gate.NotGreen(run=red):
                why = f"with the change the test is red at step {show_place(red.place)}: {red.message}"
                return Result(test.name, "refused", f"{why}. Nothing was written{withheld}", refusals=refusals)
            case gate.Blind(reason=reason) | gate.WrongElement(reason=reason):
                why = f"its proof shows nothing: {reason}"
                return Result(test.name, "refused", f"{why}. Nothing was written{withheld}", refusals=refusals)
            case Environment(message=message):
                why = f"it could not be proved: {message}{withheld}"
                return Result(test.name, "environment", why, refusals=refusals)
    said = f'{by} asked for: "{request[:300]}"'
    told = (f"{said}; not run unattended, because {harm}" if harm else said) + withheld
    return await _keep(
        tools,
        project,
        test,
        allowed,
        green,
        Result(test.name, "staged", told, refusals=refusals),
        apply=apply,
        by=by,
        versions=values.versions,
        shared=await _tried(tools, project, test, allowed, green),
    )


async def _tried(
    tools: Tools, project: Project, test: SavedTest, operations: Operations, green: Green | None
) -> Sharing | None:
    """What the change does to the tests that use this one (T17, C21); None where none does."""
    change = sharing.Change({test.name: operations}, {test.name: test})
    users = [one for one in await sharing.users_of(tools, project, (test.name,)) if one.test.id != test.id]
    if not users:
        return None
    found = Sharing(test.id, test.name)
    if green is None:
        names = tuple(one.test.name for one in users)
        return replace(found, left=names, tripped="nothing is run with it before a person says so")
    access = access_to(tools, project, Trigger.DRY_RUN)
    return await sharing.try_others(tools, project, users, change, access, found)


async def _keep(
    tools: Tools,
    project: Project,
    test: SavedTest,
    operations: Operations,
    green: Green | None,
    result: Result,
    *,
    apply: bool,
    by: str,
    versions: Mapping[str, int],
    shared: Sharing | None,
) -> Result:
    """Written where it is proven and wanted so, else it waits; in one transaction, on the version it was made for."""
    shapes = operation_shapes(test.steps, operations)
    try:
        async with tools.store.transaction() as tx:
            proof = None
            if green is not None:
                proof = await write_run(tx, tools, project, test, Trigger.PROOF, green, tools.now(), versions=versions)
            if apply and proof is not None and not (shared and shared.against):
                written = await write_repair(
                    tx,
                    tools,
                    project,
                    test,
                    steps=apply_operations(test.steps, operations),
                    operations=shapes,
                    refusals=result.refusals,
                    strategy=CHAT,
                    reason=result.reason,
                    author=by,
                    run=None,
                    proof=proof,
                    proposal=None,
                    sharing=shared,
                )
                if shared is not None:
                    await settle(tx, tools, shared, [written], test, proof, by=by)
                return replace(result, outcome="applied", repair=written.id)
            row = await proposals.stage(
                tx,
                project=project.id,
                test=test.id,
                version=test.version,
                proven=proof is not None,
                strategy=CHAT,
                operations=shapes,
                refusals=result.refusals,
                triggers=(),
                failed_step=None,
                error=None,
                reason=result.reason,
                change_key="",
                now=tools.now(),
                proof_run=proof.id if proof else None,
                even_declined=True,
                sharing=shared,
            )
            assert row is not None, "a person asked for it: it is shown even if it was declined before"
            if row.restated == 0:
                subject = f"A change of '{test.name}' waits for approval"
                payload = {"proposal": row.id, "lines": [row.why]}
                await events.emit(tx, project.id, EventKind.STAGED, subject, payload, now=tools.now())
            return replace(result, proposal=row.id, reason=row.why)
    except (Conflict, DoesNotFit):
        reason = f"'{test.name}' was edited meanwhile: nothing was written; ask again"
        return replace(result, outcome="refused", reason=reason)


def _moves_a_check(operations: Operations) -> bool:
    return any(one.op == "replace" and one.new is not None and one.new.asserts_outcome for one in operations)


def _new_steps(test: SavedTest, operations: Operations) -> list[Step]:
    known = [step for _, step in walk(test.steps)]
    made = [step for one in operations if one.new is not None for _, step in walk((one.new,))]
    return [step for step in made if step not in known]


def _forbidden(project: Project, test: SavedTest, operations: Operations) -> str:
    forbidden, attribute = project.settings.forbidden_locators, project.settings.test_id_attribute
    found = (forbidden_of(step, None, forbidden, attribute) for step in _new_steps(test, operations))
    return next(filter(None, found), "")


def _harm(test: SavedTest, operations: Operations, memory: Memory, attribute: str) -> str | None:
    """Would a new step use something whose words speak of what may not be taken back, or answer a native dialog?

    Its words are those of its locator, and of what that finds on the pages that the last green run saw.
    """
    pages = {id(seen.page): seen.page for seen in memory.seen.values()}.values()
    for step in _new_steps(test, operations):
        if step.kind == "dialog":
            return "it answers a native dialog"
        if step.kind not in ACTING:
            continue
        said = [str(one) for _, one in step.locators()]
        for page in pages:
            for _, one in step.locators():
                with suppress(Unresolvable):
                    found = (page.elements[at] for at in resolve_ways(one, page, attribute))
                    said += [f"{each.name} {page.texts[each.index]} {each.get('title')}" for each in found]
        if word := destructive_word(fold(" ".join(said))):
            return f'it newly uses something called "{word}"'
    return None
