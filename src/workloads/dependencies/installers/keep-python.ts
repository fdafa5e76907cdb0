import type { InputFiles, KeptInstallation } from "./installer.ts";

const common = { ecosystem: "python", interpreter: "python" } as const;
/** Folders of what pip installs, and of the environment that uv and Poetry create. */
const ofPip = ["python"];
const ofEnvironment = ["python", "project/.venv"];

const hash = /^--hash=\w+:\w+$/;
const extras = /^\[[\w\s,.-]*\]/;
const versions = /^\(?[=<>!~][\w\s.,*+!=<>~-]*\)?$/;

/** Keeps what a list of plain requirements installs. */
export function keepRequirements(files: InputFiles): KeptInstallation | null {
  const text = files["requirements.txt"] ?? "";
  const lines = text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/);
  const isPlain = lines.every(isPlainRequirement);
  if (!isPlain) return null;
  const line = "python3 -m pip install --requirement requirements.txt";
  return { ...common, files, line, kept: ofPip, after: null };
}

/**
 * Whether a line is empty, or a requirement by name with version and markers; not an option, path or URL. Part by part, as
 * a project writes the line: one pattern for all of it would backtrack.
 */
function isPlainRequirement(line: string): boolean {
  const words = (line.split("#", 1)[0] ?? "").trim().split(/\s+/);
  while (words.length > 1 && hash.test(words.at(-1) ?? "")) words.pop();
  const text = words.join(" ");
  if (text === "") return true;
  const semicolon = text.indexOf(";");
  if (semicolon !== -1 && text.includes("@", semicolon)) return false;
  const wanted = semicolon === -1 ? text : text.slice(0, semicolon);
  const name = /^[A-Za-z0-9][\w.-]*/.exec(wanted)?.[0];
  if (name === undefined) return false;
  const afterName = wanted.slice(name.length).trim();
  const version = afterName.slice(extras.exec(afterName)?.[0].length ?? 0).trim();
  return version === "" || versions.test(version);
}

/** Keeps everything except the project itself, which is installed afterwards if it can be built. */
export function keepUv(files: InputFiles): KeptInstallation | null {
  const text = files["pyproject.toml"] ?? "";
  // Parts of the project that are listed by path.
  if (/\b(?:workspace|path)\b\s*[=.\]]/.test(text)) return null;
  const isBuilt = /^[ \t]*\[build-system\]/m.test(text) || /^[ \t]*package[ \t]*=[ \t]*true/m.test(text);
  const line = "python3 -m pip install uv && uv sync --locked --no-install-project";
  return { ...common, files, line, kept: ofEnvironment, after: isBuilt ? "uv sync --locked" : null };
}

/** As `keepUv`. */
export function keepPoetry(files: InputFiles): KeptInstallation | null {
  const text = files["pyproject.toml"] ?? "";
  if (/\bpath\s*=/.test(text)) return null;
  const isBuilt = !/^[ \t]*package-mode[ \t]*=[ \t]*false/m.test(text);
  const line = "python3 -m pip install poetry && poetry install --no-interaction --no-root";
  const after = isBuilt ? "poetry install --no-interaction --only-root" : null;
  return { ...common, files, line, kept: ofEnvironment, after };
}
