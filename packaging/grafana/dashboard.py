#!/usr/bin/env python3
"""Writes the Grafana dashboard of `whylate watch --serve` to standard output.

It is made with grafana-foundation-sdk (requirements.txt). `cargo xtask monitoring` compares what it writes with
docs/prometheus/whylate-watch.dashboard.json, and asks a real Prometheus each of its queries.
"""

from grafana_foundation_sdk.builders import dashboard, heatmap, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import ScaleDistribution
from grafana_foundation_sdk.builders.common import ScaleDistributionConfig
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DataSourceRef,
    DynamicConfigValue,
    VariableRefresh,
)
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
CHOSEN = 'instance=~"$instance",thread=~"$thread"'


def query(expr, legend="", ref="A", **kind):
    built = prometheus.Dataquery().ref_id(ref).expr(expr).legend_format(legend).datasource(SOURCE)
    if kind.get("instant"):
        built = built.instant().format(PromQueryFormat.TABLE)
    if kind.get("buckets"):
        built = built.format(PromQueryFormat.HEATMAP)
    return built


def quantile(share, metric):
    """A percentile of native histograms, or, where there are none, of those with fixed buckets."""
    rate = f"rate({metric}{{{CHOSEN}}}[$__rate_interval])"
    fixed = f"rate({metric}_bucket{{{CHOSEN}}}[$__rate_interval])"
    return (
        f"histogram_quantile({share}, sum by (instance, thread) ({rate}))"
        f" or histogram_quantile({share}, sum by (instance, thread, le) ({fixed}))"
    )


def lines(title, description, unit, width=12):
    return (
        timeseries.Panel().title(title).description(description).unit(unit).datasource(SOURCE).span(width).height(8).min(0)
    )


def times(title, description, metric):
    panel = lines(title, description, "s").axis_label("")
    panel = panel.scale_distribution(ScaleDistributionConfig().type(ScaleDistribution.LOG).log(10))
    for ref, share, name in (("A", 0.5, "p50"), ("B", 0.99, "p99"), ("C", 0.999, "p99.9")):
        panel = panel.with_target(query(quantile(share, metric), f"{{{{thread}}}} {name}", ref))
    return panel


def number(title, description, expr, unit):
    return (
        stat.Panel()
        .title(title)
        .description(description)
        .unit(unit)
        .datasource(SOURCE)
        .span(4)
        .height(4)
        .with_target(query(expr))
    )


def variable(name, label, metric, matched):
    built = dashboard.QueryVariable(name).label(label).datasource(SOURCE).multi(True).include_all(True).all_value(".*")
    return built.query(f"label_values({metric}{{{matched}}}, {name})").refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)


def build():
    late = f"whylate_watch_late_by_thread_total{{{CHOSEN}}}"
    causes = f"whylate_watch_late_activations_total{{{CHOSEN}}}"
    of_instance = 'instance=~"$instance"'
    response = times(
        "Response", "Due to done, by thread, beside what it is judged by.", "whylate_watch_response_seconds"
    ).with_target(query(f"whylate_watch_deadline_seconds{{{CHOSEN}}}", "{{thread}} limit ({{from}})", "D"))
    by_cause = (
        table.Panel()
        .title("Why")
        .description("Late activations in the chosen time, by cause and culprit. The windows of --keep have the evidence.")
        .datasource(SOURCE)
        .span(12)
        .height(8)
        .with_target(
            query(
                f"sort_desc(sum by (instance, thread, cause, culprit) (increase({causes}[$__range])) > 0)", instant=True
            )
        )
        .override_by_name("Time", [DynamicConfigValue("custom.hidden", True)])
    )
    buckets = (
        heatmap.Panel()
        .title("Responses")
        .description("How many responses took how long. Native histograms have finer buckets.")
        .datasource(SOURCE)
        .span(12)
        .height(8)
        .calculate(False)
        .color(heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme("Oranges").exponent(0.5).steps(64))
        .with_target(
            query(
                f"sum by (le) (increase(whylate_watch_response_seconds_bucket{{{CHOSEN}}}[$__rate_interval]))"
                f" or sum(increase(whylate_watch_response_seconds{{{CHOSEN}}}[$__rate_interval]))",
                "{{le}}",
                buckets=True,
            )
        )
    )
    rate = "[$__rate_interval]"
    return (
        dashboard.Dashboard("whylate watch")
        .uid("whylate-watch")
        .description("Late activations of real-time threads, with their causes.")
        .tags(["whylate", "real-time"])
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .time("now-6h", "now")
        .refresh("30s")
        .with_variable(dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"))
        .with_variable(variable("instance", "Machine", "whylate_watch_elapsed_seconds_total", ""))
        .with_variable(variable("thread", "Thread", "whylate_watch_activations_total", of_instance))
        .with_row(dashboard.Row("Late activations"))
        .with_panel(
            lines("Late activations in a minute", "By thread, also those that were counted and not explained.", "short")
            .with_target(query(f"60 * sum by (instance, thread) (rate({late}{rate}))", "{{instance}} {{thread}}"))
        )
        .with_panel(by_cause)
        .with_panel(response)
        .with_panel(times("Wake-up latency", "Due to running, by thread.", "whylate_watch_latency_seconds"))
        .with_panel(buckets)
        .with_panel(
            lines("Activations in a second", "By thread. A thread that stands still has none.", "short")
            .with_target(
                query(
                    f"sum by (instance, thread) (rate(whylate_watch_activations_total{{{CHOSEN}}}{rate}))",
                    "{{instance}} {{thread}}",
                )
            )
        )
        .with_row(dashboard.Row("The watch itself"))
        .with_panel(
            number(
                "CPU time",
                "Of the watch, as a share of one CPU. Its bound is --max-cpu.",
                f"rate(whylate_watch_cpu_seconds_total{{{of_instance}}}{rate})",
                "percentunit",
            )
        )
        .with_panel(
            number(
                "Memory",
                "The most that the watch had.",
                f"whylate_watch_peak_memory_bytes{{{of_instance}}}",
                "bytes",
            )
        )
        .with_panel(
            number("Windows", "Bytes of --keep.", f"whylate_watch_windows_bytes{{{of_instance}}}", "bytes")
        )
        .with_panel(
            number(
                "Lost events",
                "In a second, overwritten before they were read. A larger --buffer helps.",
                f"rate(whylate_watch_lost_events_total{{{of_instance}}}{rate})",
                "short",
            )
        )
        .with_panel(
            number(
                "Groups not recorded",
                "Groups of events that are left out, to keep the bound on CPU time.",
                f"whylate_watch_dropped_event_groups{{{of_instance}}}",
                "short",
            )
        )
        .with_panel(
            number(
                "Not recorded",
                "The share of time in which nothing was recorded, to keep the bound on CPU time.",
                f"rate(whylate_watch_paused_seconds_total{{{of_instance}}}{rate})",
                "percentunit",
            )
        )
        .build()
    )


if __name__ == "__main__":
    print(JSONEncoder(sort_keys=True, indent=1).encode(build()))
