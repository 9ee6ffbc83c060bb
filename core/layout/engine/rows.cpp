#include "core/layout/engine/rows.h"

#include <algorithm>
#include <numeric>

namespace sonde::layout {

std::vector<Row> rowsOf(const BoxLayout& layout) {
    std::vector<std::size_t> order(layout.boxes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    auto middle = [&](std::size_t i) { return layout.boxes[i].center().y; };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return middle(a) < middle(b); });
    std::vector<Row> rows(layout.boxes.size());
    std::size_t index = 0;
    for (std::size_t i = 0; i < order.size(); ++index) {
        std::size_t end = i;
        Row row{index, layout.boxes[order[i]].y, layout.boxes[order[i]].bottom()};
        for (; end < order.size() && middle(order[end]) - middle(order[i]) < 1.5; ++end) {
            row.top = std::min(row.top, layout.boxes[order[end]].y);
            row.bottom = std::max(row.bottom, layout.boxes[order[end]].bottom());
        }
        for (; i < end; ++i) rows[order[i]] = row;
    }
    return rows;
}

}  // namespace sonde::layout
