import type { InputFiles, KeptInstallation } from "./installer.ts";

const common = { ecosystem: "python", interpreter: "python" } as const;
/** Folders of what pip installs, and of the environment that uv and Poetry create. */
const ofPip = ["python"];
const ofEnvironment = ["python", "project/.venv"];

/** A requirement by name, with version and markers; not an option, path or URL. */
const requirement =
  /^[A-Za-z0-9][\w.-]*\s*(?:\[[\w\s,.-]*\])?\s*(?:\(?[=<>!~][\w\s.,*+!=<>~-]*\)?)?\s*(?:;[^#@]*?)?(?:\s--hash=\w+:\w+)*\s*(?:#.*)?$/;

/** Keeps what a list of plain requirements installs. */
export function keepRequirements(files: InputFiles): KeptInstallation | null {
  const text = files["requirements.txt"] ?? "";
  const lines = text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/);
  const isPlain = lines.every((line) => /^\s*(?:#.*)?$/.test(line) || requirement.test(line.trim()));
  if (!isPlain) return null;
  const line = "python3 -m pip install --requirement requirements.txt";
  return { ...common, files, line, kept: ofPip, after: null };
}

/** Keeps everything except the project itself, which is installed afterwards if it can be built. */
export function keepUv(files: InputFiles): KeptInstallation | null {
  const text = files["pyproject.toml"] ?? "";
  // Parts of the project that are listed by path.
  if (/\b(?:workspace|path)\b\s*[=.\]]/.test(text)) return null;
  const isBuilt = /^\s*\[build-system\]/m.test(text) || /^\s*package\s*=\s*true/m.test(text);
  const line = "python3 -m pip install uv && uv sync --locked --no-install-project";
  return { ...common, files, line, kept: ofEnvironment, after: isBuilt ? "uv sync --locked" : null };
}

/** As `keepUv`. */
export function keepPoetry(files: InputFiles): KeptInstallation | null {
  const text = files["pyproject.toml"] ?? "";
  if (/\bpath\s*=/.test(text)) return null;
  const isBuilt = !/^\s*package-mode\s*=\s*false/m.test(text);
  const line = "python3 -m pip install poetry && poetry install --no-interaction --no-root";
  const after = isBuilt ? "poetry install --no-interaction --only-root" : null;
  return { ...common, files, line, kept: ofEnvironment, after };
}
