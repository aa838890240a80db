"""Python in the page: a real browser asks the package and gets what this machine's Python says.

Needs `make book` first, and a Chrome or Chromium; without one these tests are skipped loudly, and fail where CI=true.
"""

import io
import json
import re
import statistics
import subprocess
import sys
import zipfile

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from book._tools import playground
from tests import browser as real
from tests.playground_cases import cases
from toolrl_core import RewardSpec, score, single_valued, spec
from toolrl_core.examples import SCORING_EXAMPLES, TURN_EXAMPLES, example_rows
from toolrl_core.page import respond

PAGE = "book/playground.html"
ASK_ALL = """async (asks) => {
    const told = [];
    for (const ask of asks) {
        try {
            const { text, milliseconds } = await toolrl.ask(ask);
            told.push({ text, milliseconds });
        } catch (error) { told.push({ text: JSON.stringify(String(error)) }); }
    }
    return told;
}"""
JSON_WORDS = re.compile(
    r"(Illegal trailing comma before end of (object|array)|Expecting (value|property name enclosed in double quotes))"
    r"(: line \d+ column \d+ \(char \d+\)| at character \d+)"
)
ATTACK = "<img src=x onerror=alert(1)>"

pytestmark = pytest.mark.book


@pytest.fixture
def page(browser, site):
    """A new page of the playground; any error, failed request or request to another host fails the test."""
    with real.open_page(browser, site) as (opened, problems):
        opened.set_default_timeout(120_000)
        real.load(opened, PAGE)
        yield opened
        assert problems == []


@pytest.fixture(scope="module")
def running(browser, site):
    """A page where Python already runs."""
    with real.open_page(browser, site) as (opened, problems):
        opened.set_default_timeout(120_000)
        real.load(opened, PAGE)
        opened.evaluate("toolrl.ask({ kind: 'turn', text: '' })")
        yield opened
        assert problems == []


@pytest.fixture
def calm(running):
    """The page where Python runs, with every form as it was at first."""
    running.evaluate(
        """() => {
            for (const form of document.querySelectorAll(".toolrl-try")) {
                form.reset();
                delete form.dataset.shown;
                form.querySelector(".try-error").hidden = true;
                form.querySelector(".try-result").replaceChildren();
                form.querySelector(".try-status").textContent = "";
                for (const details of form.querySelectorAll("details")) details.open = false;
            }
            document.querySelector("[role=tab]").click();
            history.replaceState(null, "", location.pathname);
        }"""
    )
    return running


def here(asked):
    """Ask this machine's Python."""
    told = []
    respond(json.dumps(asked), told.append)
    return told[-1]


def plain(text):
    """Leave out the words of the JSON decoder, which Python 3.13 changed for a comma before the end."""
    return JSON_WORDS.sub("…", text)


def answered(page, kind="score", shown="result"):
    """Wait until a form shows an answer to what stands in it."""
    form = page.locator(f"#{kind}-form[data-shown={shown}][aria-busy=false]")
    form.wait_for()
    return form


def field(page, name, kind="score"):
    return page.locator(f"#{kind}-{name}")


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def test_every_answer_of_the_page_equals_the_one_of_this_python(running):
    asked = cases()
    assert len(asked) > 200
    told = running.evaluate(ASK_ALL, asked)
    for question, answer in zip(asked, told, strict=True):
        assert json.loads(plain(answer["text"])) == json.loads(plain(here(question))), question


def test_the_account_and_the_ladder_are_those_of_a_notebook(running):
    examples = [(e, preset) for e in SCORING_EXAMPLES.values() for preset in ("paper", "robust")]
    asked = [
        {"kind": "score", "completion": e.completion, "ground_truth": e.ground_truth, "preset": preset}
        for e, preset in examples
    ]
    for (example, preset), answer in zip(examples, running.evaluate(ASK_ALL, asked), strict=True):
        breakdown = score(example.completion, example.ground_truth, RewardSpec.preset(preset))
        result = json.loads(answer["text"])["result"]
        assert result["breakdown"] == json.loads(json.dumps(breakdown.to_dict()))
        assert result["ladder"] == breakdown._repr_html_()


def test_python_starts_at_the_first_press_and_says_so(page, capsys):
    loaded = "() => performance.getEntriesByType('resource').filter(e => /pyodide|toolrl_core/.test(e.name)).length"
    assert page.evaluate(loaded) == 0
    assert page.locator("#score-form .try-progress").is_hidden()
    press(page, "Score")
    expect(page.locator("#score-status")).to_have_text("Python is starting in this page.")
    expect(page.locator("#score-form .try-progress")).to_be_visible()
    expect(page.locator("#score-form .try-cancel")).to_be_visible()
    form = answered(page)
    assert page.locator("#score-form .try-progress").is_hidden()
    assert page.locator("#score-form .try-cancel").is_hidden()
    expect(page.locator("#score-status")).to_have_text("1.750 points under paper (released 1.750, robust 1.750).")
    assert form.locator("table.toolrl-ladder caption").inner_text() == "Total 1.750 points (paper, 2.5 of 4 raw points)"
    assert form.locator(".toolrl-matching svg").get_attribute("aria-label").endswith("expected call 1 calc: no partner")
    greedy = SCORING_EXAMPLES["greedy"]
    ask = {"kind": "score", "completion": greedy.completion, "ground_truth": greedy.ground_truth, "preset": "paper"}
    warm = [page.evaluate(ASK_ALL, [ask])[0]["milliseconds"] for _ in range(20)]
    cold = int(page.locator("html").get_attribute("data-python-start"))
    with capsys.disabled():
        print(f"\n[Python in the page: started in {cold / 1000:.1f} s, a score in {statistics.median(warm):.0f} ms]")


def test_results_follow_what_is_typed(calm):
    press(calm, "Score")
    answered(calm)
    field(calm, "ground_truth").fill('[{"name": "search", "parameters": {"query": "x"}}]')
    expect(calm.locator("#score-status")).to_have_text("4.000 points under paper (released 4.000, robust 4.000).")
    assert field(calm, "example").input_value() == ""
    field(calm, "ground_truth").fill("rubbish")
    box = calm.locator("#score-form .try-error")
    expect(box).to_have_text(
        "GroundTruthError: ground truth: has no <think>, <tool_call> or <response> block: 'rubbish'"
    )
    assert box.get_attribute("role") == "alert"
    assert calm.locator("#score-form table").count() == 0
    field(calm, "example").select_option(label="Greedy matching loses")
    expect(calm.locator("#score-status")).to_have_text("2.167 points under paper (released −0.333, robust −0.571).")
    expect(box).to_be_hidden()


def test_options_change_the_score_and_name_the_presets_values(calm):
    field(calm, "example").select_option(label="Greedy matching loses")
    calm.get_by_text("Options", exact=True).click()
    matching = field(calm, "matching")
    assert matching.locator("option").first.inner_text() == "as the preset: optimal"
    field(calm, "preset").select_option("released")
    assert matching.locator("option").first.inner_text() == "as the preset: greedy_ground_truth"
    field(calm, "preset").select_option("paper")
    matching.select_option("greedy_ground_truth")
    press(calm, "Score")
    answered(calm)
    expect(calm.locator("#score-status")).to_contain_text("−0.167 points under your options")


def test_a_turn_and_rows_are_judged(calm):
    calm.get_by_role("tab", name="Check a turn").click()
    press(calm, "Check")
    answered(calm, "turn")
    expect(calm.locator("#turn-status")).to_have_text("Void under 3 of 5 contracts: code_released, tool_call, search.")
    calm.get_by_role("tab", name="Score many rows").click()
    press(calm, "Score all rows")
    form = answered(calm, "rows")
    expect(calm.locator("#rows-status")).to_contain_text(
        f"mean of {len(SCORING_EXAMPLES)} of {len(SCORING_EXAMPLES)} rows"
    )
    captions = form.locator("caption").all_inner_texts()
    assert captions == ["Points, averaged over the rows", "Where the rewards disagree", "How the texts were read"]
    with calm.expect_download() as download:
        form.get_by_text("Save the whole report").click()
    assert download.value.suggested_filename == "audit.html"


def test_a_file_of_rows_is_read_in_the_page(calm):
    calm.get_by_role("tab", name="Score many rows").click()
    rows = "\n".join(example_rows().splitlines()[:3])
    calm.locator("#rows-file").set_input_files({"name": "r.jsonl", "mimeType": "", "buffer": rows.encode()})
    expect(calm.locator("#rows-status")).to_have_text("r.jsonl is read; it stays on this computer.")
    press(calm, "Score all rows")
    answered(calm, "rows")
    expect(calm.locator("#rows-status")).to_contain_text("mean of 3 of 3 rows")


def test_long_work_leaves_the_page_alive_and_can_be_cancelled(page):
    page.get_by_role("tab", name="Score many rows").click()
    many = "\n".join([example_rows()] * 400).encode()
    field(page, "file", "rows").set_input_files({"name": "many.jsonl", "mimeType": "", "buffer": many})
    expect(page.locator("#rows-status")).to_contain_text("many.jsonl is read")
    press(page, "Score all rows")
    expect(page.locator("#rows-status")).to_contain_text("rows are scored", timeout=120_000)
    page.get_by_role("tab", name="Check a turn").click()
    expect(page.get_by_role("tabpanel", name="Check a turn")).to_be_visible()
    assert page.locator("#rows-form").get_attribute("aria-busy") == "true"
    page.get_by_role("tab", name="Score many rows").click()
    press(page, "Cancel")
    answered(page, "rows", "error")
    expect(page.locator("#rows-form .try-error")).to_have_text("Cancelled.")
    field(page, "text", "rows").fill(example_rows())
    press(page, "Score all rows")
    answered(page, "rows")
    expect(page.locator("#rows-form .try-error")).to_be_hidden()


def test_a_link_carries_the_whole_state(calm, browser, site):
    field(calm, "example").select_option(label="Greedy matching loses")
    calm.get_by_text("Options", exact=True).click()
    field(calm, "schedule").select_option("two_stage")
    field(calm, "step").fill("31")
    field(calm, "completion").fill('<think> Größe 🙂 \\ "quoted" & <b> </think>\n<tool_call>\n</tool_call>')
    press(calm, "Score")
    answered(calm)
    said = calm.locator("#score-status").inner_text()
    assert "#try=" in calm.url
    with real.open_page(browser, site) as (other, problems):
        other.set_default_timeout(120_000)
        other.goto(calm.url, wait_until="networkidle")
        answered(other)
        assert other.locator("#score-status").inner_text() == said
        for name in ("completion", "ground_truth", "preset", "step", "schedule"):
            assert field(other, name).input_value() == field(calm, name).input_value(), name
    assert problems == []


def test_a_link_opens_its_tab_and_a_damaged_one_says_so(calm, browser, site):
    calm.get_by_role("tab", name="Check a turn").click()
    field(calm, "example", "turn").select_option(label="Prose only")
    press(calm, "Check")
    answered(calm, "turn")
    address = calm.url
    for damage in ("#try=AAAA", "#try=eJw"):
        calm.goto(f"{site}{PAGE}{damage}")
        expect(calm.locator("#score-form .try-error")).to_have_text(
            "The link is damaged: it holds no state of this page."
        )
    with real.open_page(browser, site) as (other, problems):
        other.set_default_timeout(120_000)
        other.goto(address, wait_until="networkidle")
        answered(other, "turn")
        assert other.get_by_role("tab", name="Check a turn").get_attribute("aria-selected") == "true"
        assert field(other, "text", "turn").input_value() == TURN_EXAMPLES["prose"].text
    assert problems == []


def test_the_keyboard_alone_reaches_everything(calm):
    first = calm.get_by_role("tab", name="Score a completion")
    first.focus()
    for key, name in (
        ("ArrowRight", "Check a turn"),
        ("ArrowRight", "Score many rows"),
        ("ArrowRight", "Score a completion"),
        ("End", "Score many rows"),
        ("Home", "Score a completion"),
        ("ArrowLeft", "Score many rows"),
        ("ArrowRight", "Score a completion"),
    ):
        calm.keyboard.press(key)
        tab = calm.get_by_role("tab", name=name)
        expect(tab).to_be_focused()
        assert tab.get_attribute("aria-selected") == "true"
        assert calm.locator("[role=tab][tabindex='0']").count() == 1
        expect(calm.get_by_role("tabpanel", name=name)).to_be_visible()
        assert calm.locator("[role=tabpanel]:visible").count() == 1
    calm.keyboard.press("Tab")
    expect(field(calm, "example")).to_be_focused()
    calm.keyboard.press("Tab")
    expect(field(calm, "completion")).to_be_focused()
    calm.keyboard.press("Control+End")
    calm.keyboard.type(" Done.")
    calm.keyboard.press("Control+Enter")
    answered(calm)
    expect(field(calm, "completion")).to_be_focused()
    expect(calm.locator("#score-status")).to_contain_text("released 0.750")  # the format point is lost there


def test_copied_python_gives_the_same_score(calm):
    calm.get_by_text("Options", exact=True).click()
    code = calm.locator("#score-form .try-python code")
    calm.locator("#score-form .try-python summary").click()
    for text in (
        'ends with "',
        'has """ in it',
        "has \\n in it",
        "a\nb \\ c",
        "tab\there\nnow",
        "🙂\nÄ",
        "plain\ntext",
    ):
        field(calm, "completion").fill(f"<think> {text} </think>\n{text}")
        names: dict = {}
        exec(code.inner_text(), names)
        assert names["completion"] == field(calm, "completion").input_value()
        assert names["breakdown"].spec == RewardSpec.preset("paper")
    field(calm, "schedule").select_option("dynamic")
    field(calm, "length_reward").select_option("true")
    field(calm, "same_name").select_option("true")
    field(calm, "unordered").fill('["ids"]')
    field(calm, "step").fill("75")
    names = {}
    exec(code.inner_text(), names)
    breakdown = names["breakdown"]
    assert (breakdown.step, breakdown.spec.same_name, breakdown.spec.unordered) == (75, True, frozenset({"ids"}))
    assert breakdown.scales.correctness == (-2.5, 2.5)
    assert breakdown.spec.length_reward is not None
    calm.get_by_role("tab", name="Check a turn").click()
    calm.locator("#turn-form .try-python summary").click()
    code = calm.locator("#turn-form .try-python code")
    expect(code).to_contain_text("verdicts")
    names = {}
    exec(code.inner_text(), names)
    assert names["verdicts"]["code_released"].void


def test_copying_says_so(browser, site):
    with real.open_page(browser, site) as (page, problems):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        real.load(page, PAGE)
        page.locator("#score-form .try-copy").click()
        expect(page.locator("#score-status")).to_have_text("The Python code is copied.")
        assert page.evaluate("navigator.clipboard.readText()").startswith("from toolrl_core import RewardSpec, score\n")
        page.locator("#score-form .try-link").click()
        expect(page.locator("#score-status")).to_have_text("The link is copied.")
        assert page.evaluate("navigator.clipboard.readText()") == page.url
        field(page, "completion").fill("".join(chr(0x4E00 + i * 7919 % 20000) for i in range(12_000)))
        page.locator("#score-form .try-link").click()
        expect(page.locator("#score-status")).to_have_text("The text is too long for a link: send it as a file.")
    assert problems == []


def test_text_never_becomes_markup(calm):
    call = json.dumps([{"name": ATTACK, "parameters": {ATTACK: ATTACK}}])
    field(calm, "ground_truth").fill(call)
    field(calm, "completion").fill(f"<tool_call>{call}</tool_call> {ATTACK}")
    press(calm, "Score")
    answered(calm)
    assert calm.locator("#score-form img").count() == 0
    assert ATTACK in calm.locator("#score-form .toolrl-ladder").inner_text()


@pytest.mark.parametrize(
    ("dark", "width"), [(False, 1280), (True, 1280), (False, 390)], ids=["light", "dark", "narrow"]
)
def test_results_are_accessible_and_fit(browser, site, dark, width):
    with real.open_page(browser, site, dark=dark, width=width) as (page, problems):
        page.set_default_timeout(120_000)
        real.load(page, PAGE)
        page.get_by_text("Options", exact=True).click()
        field(page, "equality").select_option("bfcl")
        for kind, tab, name in (
            ("score", "Score a completion", "Score"),
            ("turn", "Check a turn", "Check"),
            ("rows", "Score many rows", "Score all rows"),
        ):
            page.get_by_role("tab", name=tab).click()
            press(page, name)
            answered(page, kind)
            found = Axe().run(page, context=".toolrl-playground", options={"preload": False}).response["violations"]
            assert [(v["id"], v["nodes"][0]["target"]) for v in found] == []
            wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert page.evaluate(wide) <= 0
    assert problems == []


def test_without_a_server_the_page_says_what_it_needs(browser, html):
    with real.open_page(browser, "file://") as (page, problems):
        real.load(page, (html / PAGE).as_uri())
        press(page, "Score")
        expect(page.locator("#score-form .try-error")).to_contain_text("run `python -m http.server`")
    assert problems == []


def test_missing_files_of_python_are_an_error_in_words(browser, site):
    with real.open_page(browser, site) as (page, _):
        real.load(page, PAGE)
        page.route("**/python_stdlib.zip", lambda route: route.abort())
        press(page, "Score")
        answered(page, "score", "error")
        expect(page.locator("#score-form .try-error")).to_contain_text("Python did not start: ")


CHAPTERS = {
    "notebooks/01_reward_anatomy.html": "points under",
    "notebooks/02_greedy_vs_optimal.html": "points under",
    "notebooks/05_equality_and_format.html": "points under",
    "notebooks/08_drift_and_void_turns.html": "contracts",
}


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_chapter_has_a_panel_that_opens_in_the_playground(browser, site, path):
    with real.open_page(browser, site) as (page, problems):
        page.set_default_timeout(120_000)
        real.load(page, path)
        panel = page.get_by_role("group", name="Try it here")
        panel.locator(".try-run").click()
        expect(panel.locator(".try-status")).to_contain_text(CHAPTERS[path], timeout=120_000)
        text = panel.locator("textarea").first.input_value()
        panel.get_by_role("button", name="Open in the playground").click()
        page.wait_for_url("**/playground.html#try=*")
        expect(page.locator("[role=tabpanel]:visible textarea").first).to_have_value(text)
        assert page.locator("[role=tabpanel]:visible .toolrl-try").get_attribute("aria-busy") == "true"
    assert [problem for problem in problems if "status 304" not in problem] == []


def test_the_archive_is_the_same_for_the_same_sources_and_needs_no_other_package(tmp_path):
    packed = playground.archive()
    assert packed == playground.archive()
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert "toolrl_core/page.py" in names
    assert not any(name.startswith(("toolrl_core/explain", "toolrl_core/simulate")) for name in names)
    (tmp_path / "toolrl_core.zip").write_bytes(packed)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'toolrl_core.zip')!r}); import json; import toolrl_core\n"
        "from toolrl_core.page import respond\n"
        "assert '.zip' in toolrl_core.__file__\n"
        "respond(json.dumps({'kind': 'turn', 'text': 'x'}), print)\n"
    )
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert '"result"' in run.stdout, run.stderr


def test_every_option_of_a_spec_has_a_control_with_its_choices_and_words():
    form = playground.score_form()
    summaries = playground.option_summaries()
    for option in RewardSpec().options():
        assert f'data-option="{option}"' in form
        assert summaries[option].endswith(".")
    for option, choices in spec._CHOICES.items():
        assert all(choice is None or f">{choice}</option>" in form for choice in choices), option


def test_every_field_has_a_name(calm):
    fields = "[...document.querySelectorAll('.toolrl-playground :is(input, select, textarea)')]"
    assert set(calm.evaluate(f"() => {fields}.map(field => field.labels.length)")) == {1}
    assert calm.get_by_role("textbox", name="Completion (the model's own text)").count() == 1
    assert calm.get_by_role("status").first.get_attribute("id") == "score-status"
    assert calm.get_by_role("tablist", name="What to try").count() == 1


def test_a_panel_with_an_unknown_example_names_the_known_ones():
    with pytest.raises(ValueError, match="unknown example 'greed': choose from "):
        playground.panel("", ["one_missing", "greed"], 1, "")
    with pytest.raises(ValueError, match="unknown example 'one_missing': choose from python3, "):
        playground.panel("", ["prose", "one_missing"], 1, "")


def test_the_text_of_the_page_and_its_data_hold_no_end_of_a_script():
    for written in (playground.score_form(), playground.turn_form(), playground.rows_form(), playground.head("")):
        assert "</script" not in written.replace("</script>", "", written.count("<script"))


def test_single_valued_examples_are_known_to_the_released_rules():
    for example in SCORING_EXAMPLES.values():
        score(example.completion, single_valued(example.ground_truth), RewardSpec.preset("released"))
