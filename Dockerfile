# Glovebox as a server. It starts sandboxes on the engine whose socket it is given (compose.yaml shows how) and needs no
# privileges itself.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
# Certificates of a company's own proxy or registry, if there are any: deploy/ca/README.md.
COPY deploy/ca/ /ca/
RUN cat /dev/null $(find /ca -name '*.crt') > /ca.pem
ENV NODE_EXTRA_CA_CERTS=/ca.pem
# A checkout has sources and a lockfile; the published package has what was built from them instead.
COPY package.json package-lock.jso[n] ./
RUN if [ -f package-lock.json ]; then npm ci --ignore-scripts; else npm install --omit=dev --ignore-scripts; fi
COPY . ./
RUN if [ -d src ]; then npm run build && npm prune --omit=dev --ignore-scripts; fi
# Loaded only where the configuration names a store, a Redis or a collector; in the versions that are tested.
RUN npm install --no-save --ignore-scripts \
  $(node -p "const { devDependencies: tested } = require('./package.json'); ['pg', 'redis', '@opentelemetry/sdk-node'].map((name) => name + '@' + tested[name]).join(' ')")

FROM ${NODE_IMAGE}
COPY --from=build /ca.pem /etc/glovebox/ca.pem
COPY --from=build /build/package.json /opt/glovebox/
COPY --from=build /build/node_modules/ /opt/glovebox/node_modules/
COPY --from=build /build/dist/ /opt/glovebox/dist/
COPY images/ /opt/glovebox/images/
COPY supervisor/bin/ /opt/glovebox/supervisor/bin/
RUN mkdir -m 700 /var/lib/glovebox && chown 10001:10001 /var/lib/glovebox
ENV HOME=/var/lib/glovebox NODE_ENV=production NODE_EXTRA_CA_CERTS=/etc/glovebox/ca.pem
USER 10001:10001
WORKDIR /var/lib/glovebox
VOLUME /var/lib/glovebox
EXPOSE 8420
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8420/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/glovebox/dist/cli/main.js"]
CMD ["serve", "--host", "0.0.0.0"]
