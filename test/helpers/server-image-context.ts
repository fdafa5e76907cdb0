import { cpSync, existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "./project-folder.ts";

/** What the Dockerfile and compose.yaml use from a checkout. */
const parts = [
  ...["Dockerfile", ".dockerignore", "compose.yaml", "package.json", "package-lock.json", "tsconfig.json"],
  ...["tsconfig.build.json", "scripts", "src", "images", "supervisor", "deploy"],
];
/** The certificates of a machine whose traffic is inspected: the image's npm must trust them, like the machine's own. */
const machineCertificates = "/etc/ssl/certs/ca-certificates.crt";

/** A new folder with what the server's image is built from. */
export function serverImageContext(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "glovebox-test-server-image-"));
  for (const part of parts) cpSync(path.join(projectFolder, part), path.join(folder, part), { recursive: true });
  if (existsSync(machineCertificates)) cpSync(machineCertificates, path.join(folder, "deploy/ca/machine.crt"));
  return folder;
}
