import { join } from "node:path";
import { projectFolder } from "./project-folder.ts";

/** What tests start as `glovebox`: test/lanes/bundled-command.ts makes it from the present sources. */
export const gloveboxCommand: string = process.env["GLOVEBOX_TEST_COMMAND"] ?? join(projectFolder, "bin/glovebox");
