"""What a run leaves for people to look at, and fragments from import to play."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from gardener import evidence
from gardener.actions.importing import import_files
from gardener.runs import RunStatus
from gardener.store import saved_tests
from repair_ladder.outcomes import Green, Outcome, Played, Red, Trace
from repair_ladder.stage import Stage
from repair_ladder.steps import Steps
from tests.acceptance.shop import CHECKOUT
from tests.builders import a_test
from tests.fakes import World


def played(*pictures: bytes) -> Trace:
    return Trace(tuple(Played((n,), "wait", "", 0, 1, picture=one) for n, one in enumerate(pictures, 1)))


def playing(world: World, outcome: Outcome, stages: list[Stage] | None = None) -> World:
    async def replay(steps: Steps, stage: Stage, **_: Any) -> Outcome:
        if stages is not None:
            stages.append(stage)
        return outcome

    return replace(world, tools=replace(world.tools, replay=replay))


async def test_pictures_and_the_trace_of_a_run_are_kept_beside_the_database(world: World) -> None:
    await world.save(CHECKOUT)
    world = playing(world, Red(played(b"one", b"two"), (2,), "check", "no", tracing=b"zip"))

    (run,) = (await world.run()).runs

    data_dir = world.tools.settings.data_dir
    files = [
        evidence.find(data_dir, str(path))
        for path in [*(one["picture"] for one in run.steps), (run.evidence or {})["trace"]]
    ]
    assert [one.read_bytes() if one else None for one in files] == [b"one", b"two", b"zip"]


async def test_a_full_disk_loses_pictures_and_never_the_run(world: World) -> None:
    """They are no part of what is decided: the run is written down, red as it was, without them."""
    await world.save(CHECKOUT)
    data_dir = world.tools.settings.data_dir
    data_dir.mkdir(parents=True, exist_ok=True)
    for name in ("evidence", "pictures"):  # no folder can be made where a file stands, whoever runs this
        (data_dir / name).write_text("in the way")
    world = playing(world, Red(played(b"one"), (1,), "check", "no", picture=b"png", tracing=b"zip"))

    (run,) = (await world.run()).runs

    assert (run.status, run.error, run.picture, run.steps[0]["picture"]) == (RunStatus.RED, "no", None, None)
    assert "trace" not in (run.evidence or {})


async def test_only_so_many_runs_keep_theirs_and_a_project_may_want_none(world: World) -> None:
    await world.save(CHECKOUT)
    await world.settle(keep_runs=1, pictures=False, traces=True)
    stages: list[Stage] = []
    world = playing(world, Green(played(b"one")), stages)

    (first,) = (await world.run()).runs
    (second,) = (await world.run()).runs

    data_dir = world.tools.settings.data_dir
    found = [evidence.find(data_dir, str(run.steps[0]["picture"])) for run in (first, second)]
    assert [one is not None for one in found] == [False, True]
    assert [(one.pictures, one.tracing) for one in stages] == [(False, True)] * 2


async def test_the_pictures_of_failures_go_with_their_runs(world: World) -> None:
    await world.save(CHECKOUT)
    await world.settle(keep_runs=2)
    world = playing(world, Red(Trace(), (2,), "check", "no", picture=b"the failure"))

    ran = [(await world.run()).runs[0] for _ in range(3)]

    data_dir = world.tools.settings.data_dir
    kept = [evidence.find(data_dir, str(run.picture)) for run in ran]
    assert [one.read_bytes() if one else None for one in kept] == [None, b"the failure", b"the failure"]


async def test_a_run_that_leaves_nothing_drops_what_is_too_old_and_nothing_else(world: World) -> None:
    await world.save(CHECKOUT)
    await world.settle(keep_runs=1, keep_days=3)
    failing = playing(world, Red(Trace(), (2,), "check", "no", picture=b"the failure"))
    plain = playing(world, Green(Trace()))
    data_dir = world.tools.settings.data_dir

    (red,) = (await failing.run()).runs
    await plain.run()
    soon = evidence.find(data_dir, str(red.picture))
    world.clock.pass_(days=4)
    await plain.run()
    late = evidence.find(data_dir, str(red.picture))

    assert soon is not None
    assert late is None


async def test_what_a_screenshot_step_took_is_kept_by_its_name(world: World) -> None:
    await world.save(CHECKOUT)
    shots = (("the basket", b"one"), ("../basket", b"two"), ("", b"three"))
    world = playing(world, Green(Trace((Played((1,), "screenshot", "", 0, 1, shots=shots),))))

    (run,) = (await world.run()).runs

    told = run.steps[0]["screenshots"]
    files = [evidence.find(world.tools.settings.data_dir, one["path"]) for one in told]
    assert [one["name"] for one in told] == ["the basket", "../basket", ""]
    assert [one.read_bytes() if one else None for one in files] == [b"one", b"two", b"three"]
    assert [one.name if one else None for one in files] == [
        "1-1-the-basket.png",
        "1-2-basket.png",
        "1-3-screenshot.png",
    ]


async def test_a_test_is_played_with_the_fragments_it_uses_and_their_variables(world: World) -> None:
    inner = a_test({"fill": {"label": "Email", "value": "${user}"}}, name="inner", variables={"user": "ben", "x": "1"})
    middle = a_test({"use": "inner"}, name="middle", variables={}, status="draft")
    outer = a_test({"goto": "/"}, {"use": "middle"}, {"use": "later"}, variables={"user": "ada"})
    await world.save(inner, middle, outer)
    stages: list[Stage] = []
    world = playing(world, Green(played()), stages)

    (run,) = (await world.run("checkout")).runs

    assert run.status == RunStatus.GREEN
    assert set(stages[0].fragments) == {"inner", "middle"}
    assert stages[0].values == {"user": "ada", "x": "1"}


async def test_a_fragment_brings_the_files_of_its_uploads(world: World, tmp_path: Path) -> None:
    (tmp_path / "mug.txt").write_text("a mug")
    (tmp_path / "1.yaml").write_text("name: send\nsteps:\n- upload: {css: '#f', files: [mug.txt]}\n")
    (tmp_path / "2.yaml").write_text("name: outer\nsteps:\n- goto: /\n- use: send\n")
    imported = await import_files(world.tools, world.project, [tmp_path], "Ada")
    stages: list[Stage] = []
    world = playing(world, Green(played()), stages)

    await world.run("outer")

    assert not imported.errors
    assert stages[0].files is None
    assert (stages[0].fragment_files["send"] / "mug.txt").read_text() == "a mug"


async def test_a_file_whose_fragments_go_round_in_a_circle_is_refused_as_a_whole(world: World, tmp_path: Path) -> None:
    await world.save(a_test({"use": "b"}, name="a"))
    good, bad = tmp_path / "1.yaml", tmp_path / "2.yaml"
    good.write_text("name: good\nsteps:\n- goto: /\n- use: a\n")
    bad.write_text("name: b\nsteps:\n- goto: /\n- use: a\n")

    imported = await import_files(world.tools, world.project, [good, bad], "Ada")

    assert [one.name for one in imported.tests] == ["good"]
    assert imported.errors == (f"{bad}: 'b', step 2: the fragment 'a' goes round in a circle: b -> a -> b",)
    async with world.store.reading() as tx:
        assert await saved_tests.find(tx, world.project.id, "b") is None
