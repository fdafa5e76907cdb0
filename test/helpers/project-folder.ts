import { fileURLToPath } from "node:url";

/** The project's own folder, with a separator at its end. */
export const projectFolder: string = fileURLToPath(new URL("../../", import.meta.url));
