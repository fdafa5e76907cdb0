/** The address of the test registry: GLOVEBOX_TEST_REGISTRY, else the testbed's default. */
export function testRegistryAddress(environment: NodeJS.ProcessEnv = process.env): string {
  return environment["GLOVEBOX_TEST_REGISTRY"] ?? "127.0.0.1:5000";
}

/** Why the test registry cannot be used, or null when it answers. */
export async function testRegistryFault(address: string): Promise<string | null> {
  try {
    const response = await fetch(`http://${address}/v2/`);
    return response.ok ? null : `${address} answers ${response.status}`;
  } catch (error) {
    return `${address} does not answer (${String(error)})`;
  }
}
