import { engineContract } from "./contract.ts";
import { subjects } from "./subjects.ts";

engineContract(subjects.runsc);
