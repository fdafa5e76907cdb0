import { engineContract } from "./contract.ts";
import { preloadSubject } from "./preload-subject.ts";

engineContract(preloadSubject);
