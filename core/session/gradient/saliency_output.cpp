// Gradients as JSON and as files.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"
#include "core/session/debug/value_json.h"
#include "core/session/gradient/saliency.h"

namespace sonde::session::gradient {

using nlohmann::ordered_json;
using tensor::Tensor;

namespace {

constexpr std::size_t kLargestShown = 8;

ordered_json indexJson(std::int64_t element, const tensor::Shape& shape) {
    std::vector<std::int64_t> index(shape.rank(), 0);
    for (std::size_t d = shape.rank(); d-- > 0; element /= std::max<std::int64_t>(shape[d], 1))
        index[d] = element % std::max<std::int64_t>(shape[d], 1);
    return index;
}

ordered_json finiteNumber(double number) {
    if (std::isfinite(number)) return number;
    return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

}  // namespace

std::vector<std::int64_t> largestElements(const Tensor& tensor, std::size_t count) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(tensor.numel()));
    std::iota(order.begin(), order.end(), 0);
    const std::size_t shown = std::min(count, order.size());
    const auto size = [&](std::int64_t i) {
        const double value = std::fabs(tensor.toDouble(i));
        return std::isnan(value) ? HUGE_VAL : value;
    };
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(shown),
                              [&](auto a, auto b) { return size(a) != size(b) ? size(a) > size(b) : a < b; });
    order.resize(shown);
    return order;
}

void addSaliency(ordered_json& answer, const Saliency& saliency, const graph::InternalGraph& graph) {
    answer["of"] = {{"node", graph.node(saliency.of.node).name}, {"index", saliency.of.index}};
    if (saliency.of.member) answer["of"]["member"] = *saliency.of.member;
    answer["value"] = finiteNumber(saliency.value);
    answer["operations"] = saliency.operations;
    answer["notes"] = saliency.notes;
    answer["gradients"] = ordered_json::array();
    for (const NodeSaliency& one : saliency.gradients) {
        ordered_json json{{"node", graph.node(one.node).name}};
        json.update(debug::statsJson(one.gradient));
        json["reached"] = one.isReached;
        json["largest"] = ordered_json::array();
        for (const std::int64_t element : largestElements(one.gradient, kLargestShown))
            json["largest"].push_back({{"index", indexJson(element, one.gradient.shape())},
                                       {"value", finiteNumber(one.gradient.toDouble(element))}});
        answer["gradients"].push_back(std::move(json));
    }
}

base::Result<void> saveSaliency(const Saliency& saliency, const graph::InternalGraph& graph, const std::string& path) {
    if (path.ends_with(".npy")) {
        if (saliency.gradients.size() == 1) return io::writeNpyFile(path, saliency.gradients.front().gradient);
        return base::usageError("a .npy file has one array, not " + std::to_string(saliency.gradients.size()), path,
                                "name a file that ends in .npz");
    }
    if (!path.ends_with(".npz"))
        return base::usageError("gradients are written as .npy or .npz", path, "name a file that ends in .npz");
    std::vector<io::NamedTensor> arrays;
    for (const NodeSaliency& one : saliency.gradients)
        arrays.push_back({"grad." + graph.node(one.node).name, one.gradient});
    return io::writeNpz(path, arrays);
}

}  // namespace sonde::session::gradient
