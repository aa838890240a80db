"""Definitions of studies for tests, and what makes them wrong."""

TEXT = """
title = "Scale"
source = "Table 6"
engine = "answers"
seed = 3
seeds = 3
metrics = ["usable", "exact"]
moments = ["2", "final", "mean"]
smallest = 0.01
[settings]
steps = 4
evaluate_every = 2
prompts = 4
evaluation_prompts = 10
[arms]
original = {}
equal_max = { schedule = { kind = "equal_max" } }
[[blocks]]
name = "grid"
about = "How good the base is."
[blocks.axes]
strength = { path = "base.strength", values = [-1, 2] }
memory.short = { "settings.beta2" = 0.9 }
[[blocks]]
name = "settings"
about = "One at a time."
one_at_a_time = true
[blocks.axes]
group_size = { path = "settings.group_size", values = [2] }
[[directions]]
id = "a"
paper = "Equal-max ends below the original scale."
blocks = ["grid", "settings"]
comparisons = [{ higher = "original", lower = "equal_max", metric = "usable" }]
[[directions]]
id = "b"
paper = "More so for a weak base."
blocks = ["grid"]
across = ["strength", "-1", "2"]
comparisons = [{ higher = "original", lower = "equal_max", metric = "usable" }]
"""

TURNS = """
title = "Veto"
source = "Table 2"
engine = "turns"
seed = 1
seeds = 2
metrics = ["success"]
[arms]
naive = {}
[[blocks]]
name = "grid"
about = "How good a direct answer is."
[blocks.axes]
direct = { path = "world.direct", values = [0.25, 0.5] }
"""

STRENGTH = 'strength = { path = "base.strength", values = [-1, 2] }'
SIZE = 'group_size = { path = "settings.group_size", values = [2] }'
SHORT = 'memory.short = { "settings.beta2" = 0.9 }'

NOTHING = [
    ("base.strength", "strength", "'strength' names 'strength': choose from world, base, settings, spec, arms"),
    ("base.strength", "base", "'base' must name a field, base.FIELD"),
    ('"base.strength"', '""', "path must be a text of one line that is not empty, found ''"),
    ("base.strength", "base..strength", "names '': choose from strength"),
    ("base.strength", "base.strong", "names 'strong': choose from strength"),
    ("base.strength", "base.strength.deep", "goes on below strength, which is no table"),
    ("base.strength", "filters.keep_void_turn", "names 'filters': choose from world, base, settings, spec, arms"),
    ("base.strength", "arms.original", "must name an arm and an option, arms.NAME.OPTION"),
    ("base.strength", "arms.coarse.credit", "names 'coarse': choose from original, equal_max"),
    ("base.strength", "arms.original.grade", "names 'grade': choose from preset, parser"),
    ("base.strength", "arms.original.schedule.switch", "is within schedule, which is not given there"),
    ("base.strength", "spec.name", "names 'name': choose from preset, parser"),
    (SHORT, "memory.short = { settings.beta2 = 0.9 }", "'settings' must name a field, settings.FIELD (with the whole"),
    ("[settings]", "[filters]\nkeep_void_turn = false\n[settings]", "filters is not read by the engine answers"),
    ("steps = 4", "steps = 4\nspeed = 1", "settings names 'speed': choose from steps, prompts"),
    ("original = {}", "original = { grade = 1 }", "arm original names 'grade': choose from preset, parser"),
    ("one_at_a_time = true", "one_at_a_time = true\nchanges = { x = 1 }", "block settings: the path 'x' names 'x'"),
    (
        "one_at_a_time = true",
        'one_at_a_time = true\nchanges = { "settings.group_size" = 2 }',
        "the settings 'own setting' and 'group_size=2' are the same",
    ),
    (
        SIZE,
        SIZE.replace("[2]", "[2, 3]") + '\nsize.two = { "settings.group_size" = 2 }',
        "the settings 'group_size=2' and 'size=two' are the same",
    ),
    (
        SHORT,
        'again = { path = "base.strength", values = [0] }',
        "the axes strength and again both change base.strength",
    ),
    (
        SHORT,
        SHORT + "\nsame.one = {}\nsame.two = {}",
        "memory=short; same=one' and 'strength=-1; memory=short; same=two' are the same",
    ),
    ("[-1, 2]", "[0.1234567, 0.12345671]", "two values are written 0.123457, give each a label of its own"),
    ("[-1, 2]", "[1, 1]", "two values are written 1"),
    ("[-1, 2]", "[]", "axis strength: there are no values"),
    (
        'about = "How good the base is."',
        'about = "How."\nchanges = { "settings.beta2" = 0.5 }',
        "every value of the axis memory replaces settings.beta2",
    ),
    (
        SHORT,
        'scale.one = { "arms.equal_max.schedule" = {} }\nkind.one = { "arms.equal_max.schedule.kind" = "dynamic" }',
        "the axes scale and kind both change arms.equal_max.schedule",
    ),
    (
        SIZE,
        'scale.one = { "arms.equal_max.schedule" = {}, "arms.equal_max.schedule.kind" = "dynamic" }',
        "change the same table in 'scale=one'",
    ),
    (
        "one_at_a_time = true",
        'one_at_a_time = true\narms = ["equal_max"]\nchanges = { "spec.schedule" = {} }',
        "'spec.schedule' changes nothing, for every arm states its own schedule",
    ),
    (
        'across = ["strength", "-1", "2"]',
        'across = ["strength", "2", "2"]',
        "direction b compares '2' with itself across strength",
    ),
    ('lower = "equal_max"', 'lower = "original"', "direction a compares 'original' with itself"),
    ('id = "b"', 'id = "a"', "two directions have the same id: 'a'"),
    (
        "one_at_a_time = true",
        'one_at_a_time = true\narms = ["original"]',
        "direction a, block settings, names 'equal_max': choose from original",
    ),
    ('blocks = ["grid", "settings"]', 'blocks = ["grid", "grid"]', "blocks names something twice: grid, grid"),
    ('"exact"]', '"usable"]', "metrics names something twice: usable, usable"),
    ("one_at_a_time = true", 'one_at_a_time = true\narms = ["original", "original"]', "arms names something twice"),
    ("seeds = 3", "seeds = 1", "seeds must be at least 2 and a whole number, found 1"),
]
"""What is replaced in the example, by what, and a part of the message: changes that the engine would not notice."""

COMPARED = 'comparisons = [{ higher = "original", lower = "equal_max", metric = "usable" }]'
TYPES = [
    ('["2", "final", "mean"]', '"final"', "moments must be a list of names"),
    ('["2", "final", "mean"]', "[[1]]", "each of moments must be a text of one line"),
    ('["2", "final", "mean"]', "[true]", "each of moments must be a text of one line"),
    ('["2", "final", "mean"]', "[-1]", "moments names '-1': choose from final, late, mean, peak, burst"),
    ('["2", "final", "mean"]', '["²"]', "moments names '²'"),
    ('["2", "final", "mean"]', '["٣"]', "moments names '٣'"),
    ('["2", "final", "mean"]', '["060"]', "moments names '060'"),
    ('["2", "final", "mean"]', '[2, "2"]', "moments names something twice: 2, 2"),
    ('["usable", "exact"]', "[1]", "each of metrics must be a text of one line"),
    ('["usable", "exact"]', '"usable"', "metrics must be a list of names"),
    ("seed = 3", "seed = true", "seed must be at least 0 and a whole number, found True"),
    ("seed = 3", "seed = -1", "seed must be at least 0 and a whole number, found -1"),
    ("seed = 3", "seed = 1979-05-27", "seed is a date or a time, 1979-05-27"),
    ("seeds = 3", "seeds = 3.0", "seeds must be at least 2 and a whole number, found 3.0"),
    ("seed = 3", "seed = 3\ncurve_every = 0", "curve_every must be at least 1 and a whole number, found 0"),
    ("seed = 3", "seed = 3\ncurve_every = -1", "curve_every must be at least 1"),
    ("seed = 3", "seed = 3\ncurve_every = nan", "curve_every must be at least 1 and a whole number, found nan"),
    ("seed = 3", 'seed = 3\ncurve_every = "x"', "curve_every must be at least 1 and a whole number, found 'x'"),
    ("smallest = 0.01", "smallest = nan", "smallest must be a finite number that is not negative, found nan"),
    ("smallest = 0.01", "smallest = -0.01", "smallest must be a finite number that is not negative, found -0.01"),
    ("smallest = 0.01", "smallest = inf", "smallest must be a finite number"),
    ("smallest = 0.01", 'smallest = "x"', "smallest must be a finite number that is not negative, found 'x'"),
    ("smallest = 0.01", "smallest = true", "smallest must be a finite number that is not negative, found True"),
    (
        'id = "a"',
        'id = "a"\nsmallest = -1',
        "direction a: smallest must be a finite number that is not negative, found -1",
    ),
    ('id = "a"', "id = 1", "a direction: id must be a text of one line"),
    ("seed = 3", "seed = 3\nbase = 3", "base must be a table, found 3"),
    ("seed = 3", "seed = 3\nworld = [1]", "world must be a table, found [1]"),
    ("original = {}", "original = 3", "arms, original must be a table, found 3"),
    ("original = {}", '"" = {}', "each name in arms must be a text of one line"),
    ("original = {}", '"a\\nb" = {}', "each name in arms must be a text of one line"),
    ('name = "grid"', "name = 1", "a block: name must be a text of one line that is not empty, found 1"),
    ("one_at_a_time = true", 'one_at_a_time = "x"', "block settings: one_at_a_time must be true or false, found 'x'"),
    ("one_at_a_time = true", "one_at_a_time = true\nchanges = 1", "block settings: changes must be a table, found 1"),
    ("one_at_a_time = true", 'one_at_a_time = true\narms = "ab"', "block settings: arms must be a list of names"),
    ("one_at_a_time = true", "one_at_a_time = true\narms = [1]", "each of block settings: arms must be a text"),
    ("one_at_a_time = true", "one_at_a_time = true\narms = []", "arms must be a list of names that is not empty"),
    ("[blocks.axes]\n" + STRENGTH + "\n" + SHORT, "axes = 1", "block grid: axes must be a table, found 1"),
    (STRENGTH, "strength = 1", "block grid: axis strength: give path and values"),
    (STRENGTH, "strength = {}", "block grid: axis strength: give path and values"),
    (STRENGTH, 'strength = { path = "base.strength", values = 3 }', "axis strength: give path and values"),
    (STRENGTH, "strength = { path = 1, values = [0] }", "axis strength: path must be a text of one line"),
    ("[-1, 2]", "[1979-05-27]", "strength, values is a date or a time"),
    ('across = ["strength", "-1", "2"]', "across = []", "across must be an axis and two of its labels, three texts"),
    ('across = ["strength", "-1", "2"]', 'across = ["strength", "-1"]', "across must be an axis and two of its labels"),
    ('across = ["strength", "-1", "2"]', 'across = ["strength", "-1", "2", "2"]', "across must be an axis and two"),
    (
        'across = ["strength", "-1", "2"]',
        'across = ["strength", -1, 2]',
        "across must be an axis and two of its labels",
    ),
    ('across = ["strength", "-1", "2"]', 'across = "s12"', "across must be an axis and two of its labels"),
    (COMPARED, "comparisons = [1]", "direction a: comparisons must be a list of tables that is not empty, found [1]"),
    (COMPARED, "comparisons = []", "direction a: comparisons must be a list of tables that is not empty, found []"),
    (COMPARED, COMPARED.replace("higher", "higer"), "direction a: a comparison: the field higher is missing"),
    (COMPARED, COMPARED.replace(" }", ", mument = 2 }"), "direction a: a comparison: unknown field mument"),
    (COMPARED, COMPARED.replace(" }", ", moment = [2] }"), "moment must be a text of one line"),
    (COMPARED, COMPARED.replace(" }", ", moment = 4 }"), "direction a names '4': choose from 2, final, mean"),
    (COMPARED, COMPARED.replace(" }", ', at_least = "x" }'), "a comparison: at_least must be true or false, found 'x'"),
    ('blocks = ["grid", "settings"]', 'blocks = "grid"', "direction a: blocks must be a list of names"),
]
"""What is replaced in the example, by what, and a part of the message: fields of another type."""
