#include "core/analysis/compare_sequence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/analysis/tensor_stats.h"

namespace sonde::analysis {

using tensor::Tensor;
using tensor::Value;

namespace {

constexpr std::string_view kInput = "seq.in.";
constexpr std::string_view kOutput = "seq.out.";

bool hasKey(const ReferenceValues& reference, const std::string& key) {
    return std::ranges::find(reference.keys, key) != reference.keys.end();
}

/// How one input gets its value in every frame.
struct Feed {
    Value value;                        ///< of the frame that comes next
    std::optional<Tensor> frames;       ///< given, one for each frame
    std::optional<std::size_t> output;  ///< carried over from this output
};

struct Wanted {
    std::size_t output;
    Tensor frames;
    ComparedValue row;
    double largest;  ///< finite magnitude in all frames
};

base::Result<Feed> feedOf(const ComparedModel& model, const ReferenceValues& reference, const std::string& name) {
    Feed feed;
    if (const std::string key = std::string(kInput) + name; hasKey(reference, key)) {
        SONDE_ASSIGN(feed.frames, reference.read(key));
        if (feed.frames->rank() == 0) return base::usageError("'" + key + "' has no frames", "seq");
        return feed;
    }
    if (!hasKey(reference, "in." + name)) {
        return base::usageError("the reference has no input '" + name + "'", "seq",
                                "its keys must be seq.in.NAME or in.NAME");
    }
    SONDE_ASSIGN(Tensor first, reference.read("in." + name));
    for (std::size_t i = 0; i < model.outputs.size() && !feed.output; ++i) {
        if (model.outputs[i].first.starts_with(name)) feed.output = i;
    }
    if (feed.output) {
        SONDE_ASSIGN(first, Tensor::zeros(first.dtype(), first.shape()));
    }
    feed.value = Value(std::move(first));
    return feed;
}

/// Of finite elements that are no mask values.
double largestMagnitude(const Tensor& tensor) {
    const double maskFrom = smallestMask(tensor);
    double largest = 0;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        const double magnitude = std::abs(tensor.toDouble(i));
        if (std::isfinite(magnitude) && magnitude < maskFrom) largest = std::max(largest, magnitude);
    }
    return largest;
}

base::Result<std::vector<Wanted>> wantedOf(const ComparedModel& model, const ReferenceValues& reference,
                                           ComparedCase& result) {
    std::vector<Wanted> all;
    for (const std::string& key : reference.keys) {
        if (!key.starts_with(kOutput)) continue;
        const std::string name = key.substr(kOutput.size());
        const auto output = std::ranges::find(model.outputs, name, &std::pair<std::string, graph::NodeId>::first);
        if (output == model.outputs.end()) {
            result.unmatched.push_back(key);
            continue;
        }
        SONDE_ASSIGN(Tensor frames, reference.read(key));
        ComparedValue row;
        row.name = name;
        row.node = output->second;
        row.isOutput = true;
        row.qualname = model.graph->expr(model.graph->node(row.node).producer).qualname.value_or("");
        const double largest = largestMagnitude(frames);
        all.push_back(
            {static_cast<std::size_t>(output - model.outputs.begin()), std::move(frames), std::move(row), largest});
    }
    return all;
}

void compareFrame(Wanted& wanted, const std::vector<Value>& outputs, std::int64_t frame, const Tolerances& tolerances) {
    if (!wanted.row.ok) return;  // the first frame that differs is told
    const std::optional<Tensor> actual =
        wanted.output < outputs.size() ? asTensor(outputs[wanted.output]) : std::nullopt;
    const auto fail = [&](const std::string& what) {
        wanted.row.ok = false;
        wanted.row.note = "frame " + std::to_string(frame) + (what.empty() ? "" : ": " + what);
    };
    if (!actual || wanted.frames.rank() == 0 || frame >= wanted.frames.dim(0))
        return fail("there is nothing to compare");
    const Tensor expected = wanted.frames.selected(0, frame);
    if (actual->shape() != expected.shape())
        return fail("shape " + actual->shape().text() + " instead of " + expected.shape().text());
    // A sequence is one value: what the largest magnitude of all frames allows holds in each of them.
    Tolerance tolerance = tolerances.of(actual->dtype(), expected.dtype());
    tolerance.absolute += std::exchange(tolerance.ofLargest, 0) * wanted.largest;
    const Difference one = difference(*actual, expected, tolerance);
    wanted.row.maxAbsolute = std::max(wanted.row.maxAbsolute, one.maxAbsolute);
    wanted.row.maxRelative = std::max(wanted.row.maxRelative, one.maxRelative);
    if (!one.ok) fail("");
}

}  // namespace

bool hasSequence(const ReferenceValues& reference) {
    return std::ranges::any_of(reference.keys, [](const std::string& key) { return key.starts_with(kInput); });
}

base::Result<ComparedCase> compareSequence(const ComparedModel& model, const ReferenceValues& reference,
                                           const Tolerances& tolerances, exec::Runner& runner,
                                           const base::WorkContext& work) {
    ComparedCase result;
    result.label = "seq";
    std::vector<Feed> feeds;
    std::int64_t frames = -1;
    for (const auto& [name, node] : model.inputs) {
        SONDE_ASSIGN(Feed feed, feedOf(model, reference, name));
        if (feed.frames) frames = frames < 0 ? feed.frames->dim(0) : std::min(frames, feed.frames->dim(0));
        feeds.push_back(std::move(feed));
    }
    if (frames <= 0)
        return base::usageError("the reference has no frames for an input of the model", "seq",
                                "its keys must be seq.in.NAME, with the frames along the first dimension");
    SONDE_ASSIGN(std::vector<Wanted> wanted, wantedOf(model, reference, result));
    exec::PlanOptions options;
    options.exact = true;
    options.edits = model.edits.values;
    SONDE_ASSIGN(const auto plan, exec::Plan::make(model.graph, std::move(options)));
    const auto& places = model.graph->inputs();
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        std::vector<Value> inputs(places.size());
        for (std::size_t i = 0; i < feeds.size(); ++i) {
            if (feeds[i].frames) {
                SONDE_ASSIGN(Tensor own, feeds[i].frames->selected(0, frame).contiguous());
                feeds[i].value = Value(std::move(own));
            }
            const auto place = std::ranges::find(places, model.inputs[i].second);
            if (place != places.end()) inputs[static_cast<std::size_t>(place - places.begin())] = feeds[i].value;
        }
        SONDE_ASSIGN(const std::vector<Value> edited, model.edits.edited(inputs, work));
        const exec::Recording recording = runner.run(*plan, edited, work);
        result.error = recording.error;
        if (result.error) break;
        for (Wanted& one : wanted) compareFrame(one, recording.outputs, frame, tolerances);
        for (Feed& feed : feeds) {
            if (feed.output && *feed.output < recording.outputs.size()) feed.value = recording.outputs[*feed.output];
        }
    }
    for (Wanted& one : wanted) {
        if (one.row.ok) one.row.note = std::to_string(frames) + " frames";
        result.values.push_back(std::move(one.row));
    }
    return result;
}

}  // namespace sonde::analysis
