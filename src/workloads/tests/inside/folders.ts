import { workFolder } from "../../../policy/scratch.ts";

/** What is ours: reporters and reports. */
export const reportsFolder: string = `${workFolder}/.glovebox`;
/** What Python packages are installed into, and programs that npm installs. */
export const pythonFolder: string = `${workFolder}/python`;
export const toolsFolder: string = `${workFolder}/tools`;
/** The one report of `bun test`. */
export const bunReport = "bun.xml";
