import { parse } from "smol-toml";

/** Extras and groups that tests usually need. */
const names = ["dev", "test", "tests", "testing"];

type Table = Readonly<Record<string, unknown>>;

/**
 * What pip has to install for a `pyproject.toml`: the project itself, in place, if it names a build system; else the
 * packages that it needs. Includes extras and groups for tests. Empty: nothing, for example if the file only contains
 * tool settings.
 */
export function pyprojectPackages(text: string): readonly string[] {
  let file: Table;
  try {
    file = parse(text);
  } catch {
    // pip reports what is wrong with it.
    return ["--editable", "."];
  }
  const project = table(file["project"]);
  const extras = table(project["optional-dependencies"]);
  const chosen = names.filter((name) => Object.hasOwn(extras, name));
  const groups = table(file["dependency-groups"]);
  const grouped = names.flatMap((name) => requirements(groups[name]));
  if (file["build-system"] !== undefined)
    return ["--editable", chosen.length === 0 ? "." : `.[${chosen.join()}]`, ...grouped];
  return [
    ...requirements(project["dependencies"]),
    ...chosen.flatMap((name) => requirements(extras[name])),
    ...grouped,
  ];
}

function table(value: unknown): Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Table) : {};
}

/** The strings of a list; one with a leading dash would be an option. */
function requirements(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((each): each is string => typeof each === "string" && /^[^-\s\0][^\0\n]*$/.test(each))
    : [];
}
