import type { OperationContract } from "./operation-contract.ts";

/** A body that is a request as one line of JSON, a line feed, and then the program's standard input as it comes, to its end. */
export const inputType = "application/vnd.glovebox.input";

/** Whether requests of an operation may have standard input. */
export function takesInput({ request }: Pick<OperationContract, "request">): boolean {
  return "stdin" in request.shape;
}
