import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { bytesText } from "../text/amounts.ts";
import { Empty } from "../views/empty.tsx";
import { Failure } from "../views/runs/failure.tsx";
import { Plot } from "./plot.tsx";
import { seriesOf } from "./series.ts";
import { watchMetrics } from "./watch-metrics.ts";

const percent = (value: number): string => `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} %`;
const megabytes = (value: number): string => bytesText(value * 1_000_000);
const rate = (value: number): string => `${bytesText(value)}/s`;

/** What a sandbox uses, over the last ten minutes. */
export function MetricsView({ id }: { readonly id: string }): VNode {
  const watched = useMemo(() => watchMetrics(id), [id]);
  useEffect(() => watched.stop, [watched]);
  const { answer, failure } = watched.state.value;
  const series = useMemo(() => seriesOf(answer?.samples ?? []), [answer]);
  if (answer === null || answer.samples.length === 0) {
    const isOver = answer?.running === false || failure?.status === 404;
    return (
      <Empty icon="clock" title={isOver ? "No measurements are kept" : "Measuring"}>
        <p>
          {isOver
            ? "There is no such sandbox, or it ended before its first sample or too long ago."
            : "The first sample comes within a second or two."}
        </p>
        {failure !== null && failure.status !== 404 && <Failure failure={failure} />}
      </Empty>
    );
  }
  const { cpus, memory_mb: memoryMb } = answer.limits;
  const { seconds } = series;
  return (
    <div class="metrics">
      <Plot
        title="CPU"
        least={10}
        seconds={seconds}
        lines={[{ name: "CPU", values: series.cpuPercent }]}
        format={percent}
        limit={cpus * 100}
      />
      <Plot
        title="Memory"
        least={10}
        seconds={seconds}
        lines={[{ name: "Memory", values: series.memoryMb }]}
        format={megabytes}
        limit={memoryMb}
      />
      <Plot
        title="Network"
        least={1_000}
        seconds={seconds}
        lines={[
          { name: "In", values: series.networkIn },
          { name: "Out", values: series.networkOut },
        ]}
        format={rate}
      />
      <Plot
        title="Disk"
        least={1_000}
        seconds={seconds}
        lines={[
          { name: "Read", values: series.diskRead },
          { name: "Written", values: series.diskWritten },
        ]}
        format={rate}
      />
    </div>
  );
}
