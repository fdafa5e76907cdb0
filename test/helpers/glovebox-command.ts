import { join } from "node:path";
import { projectFolder } from "./project-folder.ts";

/** What tests start as `glovebox`: made by test/lanes/bundled-command.ts of the sources as they are. */
export const gloveboxCommand: string = process.env["GLOVEBOX_TEST_COMMAND"] ?? join(projectFolder, "bin/glovebox");
