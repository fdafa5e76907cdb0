import { engineContract } from "./contract.ts";
import { ordinaryUserSubject } from "./ordinary-user-subject.ts";
import { subjects } from "./subjects.ts";

engineContract(process.getuid?.() === 0 ? subjects.local : ordinaryUserSubject);
