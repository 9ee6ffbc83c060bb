#include <cmath>
#include <fmt/format.h>

#include "core/analysis/tensor_views/filter_pictures.h"
#include "core/base/count_text.h"
#include "core/session/value_readings/reading_lines.h"
#include "core/session/value_readings/value_readings.h"

namespace sonde::session {

base::Result<ReadingLines> filterLines(const ReadValue& value, const std::stop_token& stop) {
    const tensor::Tensor& filters = value.tensor;
    ReadingRows rows;
    for (std::int64_t i = 0; i < filters.dim(0) && rows.size() < kMaxReadingLines; ++i) {
        if (stop.stop_requested()) return base::cancelled();
        const analysis::FilterPicture filter = analysis::filterPicture(filters, i, {});
        double sum = 0, squares = 0;
        std::int64_t finite = 0;
        for (const double element : filter.values) {
            if (!std::isfinite(element)) continue;
            sum += element;
            squares += element * element;
            ++finite;
        }
        rows.push_back({"filter " + std::to_string(i), readingNumber(filter.low) + " to " + readingNumber(filter.high),
                        "mean " + readingNumber(finite > 0 ? sum / static_cast<double>(finite) : 0),
                        "L2 norm " + readingNumber(std::sqrt(squares))});
        if (const auto bad = static_cast<std::int64_t>(filter.values.size()) - finite; bad > 0)
            rows.back().push_back(base::countText(bad) + " NaN or infinite");
    }
    return readingTable(
        fmt::format("{} filters of {} x {} x {} elements (inputs, rows, columns); range, mean and L2 norm",
                    base::countText(filters.dim(0)), filters.dim(1), filters.dim(2), filters.dim(3)),
        rows, filters.dim(0));
}

}  // namespace sonde::session
