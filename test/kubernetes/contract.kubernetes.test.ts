import { engineContract } from "../engine-contract/contract.ts";
import { kubernetesSubject } from "./subject.ts";

engineContract(kubernetesSubject);
