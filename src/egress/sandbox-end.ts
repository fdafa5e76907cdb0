/** Where programs find the egress proxy: the only port that a sandbox's network has. */
export const networkPort = 3128;
/** The host's certificates, in every sandbox's scratch. */
export const certificateFile = "/tmp/.glovebox-certificates.pem";
