import type { Installer } from "./installer.ts";
import { keepPoetry, keepRequirements, keepUv } from "./keep-python.ts";
import { pyprojectPackages } from "./pyproject-packages.ts";

const pip = "python3 -m pip install";

export const uv: Installer = {
  inputs: ["pyproject.toml", "uv.lock", "uv.toml", ".python-version"],
  line: () => `${pip} uv && uv sync --locked`,
  keep: keepUv,
};

export const poetry: Installer = {
  inputs: ["pyproject.toml", "poetry.lock", "poetry.toml"],
  line: () => `${pip} poetry && poetry install --no-interaction`,
  keep: keepPoetry,
};

export const requirements: Installer = {
  inputs: ["requirements.txt"],
  line: () => `${pip} --requirement requirements.txt`,
  keep: keepRequirements,
};

/** A project without a lockfile: its declared dependencies, and the project itself if it can be built. */
export const pyproject: Installer = {
  inputs: ["pyproject.toml"],
  line: (files) => {
    const packages = pyprojectPackages(files["pyproject.toml"] ?? "");
    return packages.length === 0 ? null : `${pip} ${packages.map(quote).join(" ")}`;
  },
  isOptional: true,
  // Without a lockfile it is unknown what was installed.
  keep: () => null,
};

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
