#include "app/verbs/bench_curve.h"

#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/interrupt.h"
#include "core/analysis/parameters.h"
#include "core/base/number_text.h"
#include "core/session/curve/curve.h"

namespace sonde::app {

namespace {

double inMilliseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string grownText(const session::CurvePoint& point) {
    return point.grownBytes ? analysis::bytesText(*point.grownBytes) : "-";
}

void printPoint(const session::CurvePoint& point) {
    fmt::print("{:>10} {:>8} {:>12.3f} {:>12.3f} {:>12.3f} {:>12} {:>12}\n", base::roundedText(point.at, 9),
               point.threads, inMilliseconds(point.medianNs), inMilliseconds(point.minNs), inMilliseconds(point.maxNs),
               analysis::bytesText(point.valueBytes), grownText(point));
    std::fflush(stdout);
}

struct Growth {
    std::optional<double> time, values;
};

Growth growthOf(const session::Curve& curve) {
    return {session::growthExponent(curve, [](const auto& point) { return static_cast<double>(point.medianNs); }),
            session::growthExponent(curve, [](const auto& point) { return static_cast<double>(point.valueBytes); })};
}

void printGrowth(const session::Curve& curve) {
    const auto [time, values] = growthOf(curve);
    if (time) fmt::print("time grows as {}^{:.2f}", curve.key, *time);
    if (values) fmt::print("{}memory of values as {}^{:.2f}", time ? ", " : "", curve.key, *values);
    if (time || values) fmt::print("\n");
}

void printCurveJson(const session::Curve& curve, const std::string& model) {
    nlohmann::ordered_json root{{"model", model}, {"key", curve.key}, {"what", curve.what}, {"runs", curve.repeat}};
    root["points"] = nlohmann::ordered_json::array();
    for (const session::CurvePoint& point : curve.points) {
        root["points"].push_back({{"at", point.at},
                                  {"threads", point.threads},
                                  {"median_ms", inMilliseconds(point.medianNs)},
                                  {"min_ms", inMilliseconds(point.minNs)},
                                  {"max_ms", inMilliseconds(point.maxNs)},
                                  {"value_bytes", point.valueBytes}});
        if (point.grownBytes) root["points"].back()["grown_bytes"] = *point.grownBytes;
    }
    const auto [time, values] = growthOf(curve);
    if (time) root["time_exponent"] = *time;
    if (values) root["value_bytes_exponent"] = *values;
    fmt::print("{}\n", root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

base::Result<void> writePlot(const session::Curve& curve, const std::string& path) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << session::curveSvg(curve);
    file.close();
    if (!file) return base::runError("the plot cannot be written", path);
    return {};
}

}  // namespace

base::Result<int> benchCurve(const BenchCurveOptions& options, ModelOptions& model, const InputChoice& inputs) {
    session::CurveRequest request;
    SONDE_ASSIGN(request.range, session::CurveRange::parse(options.range));
    const std::string named = model.model;
    request.model = named;
    request.threads = options.threads;
    request.repeat = options.repeat;
    request.watchAll = options.watchAll;
    request.exact = options.exact;
    request.inputs = {inputs.spec, inputs.image, inputs.seed.value_or(0)};
    request.open = [&](const std::string& at) {
        model.model = at;
        return model.load(inputs.spec, {.outputs = {{"--plot", options.plot}}});
    };
    bool isFirst = true;
    const auto told = [&](const session::CurvePoint& point) {
        if (options.json) return;
        if (std::exchange(isFirst, false))
            fmt::print("{:>10} {:>8} {:>12} {:>12} {:>12} {:>12} {:>12}\n", request.range.key, "threads", "median ms",
                       "min ms", "max ms", "values", "memory");
        printPoint(point);
    };
    SONDE_ASSIGN(const session::Curve curve, session::measureCurve(request, told, commandLineWork()));
    if (options.json) printCurveJson(curve, named);
    else printGrowth(curve);
    if (!options.plot.empty()) SONDE_TRY(writePlot(curve, options.plot));
    return 0;
}

}  // namespace sonde::app
