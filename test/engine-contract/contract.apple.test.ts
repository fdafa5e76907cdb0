import { afterAll } from "vitest";
import { appleSubject, removeStandIn } from "./apple-subject.ts";
import { engineContract } from "./contract.ts";

engineContract(appleSubject);

afterAll(removeStandIn);
