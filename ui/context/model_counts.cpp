#include "ui/context/model_counts.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "ui/context/count_text.h"

namespace sonde::context {

namespace {

constexpr std::size_t kMaxRemembered = 4;  ///< two windows with a graph and the whole model each

}  // namespace

std::shared_ptr<const analysis::ModelCounts> countsOf(const std::shared_ptr<const document::Document>& document) {
    using Entry = std::pair<std::weak_ptr<const document::Document>, std::shared_ptr<const analysis::ModelCounts>>;
    static std::deque<Entry> remembered;
    std::erase_if(remembered, [](const Entry& entry) { return entry.first.expired(); });
    for (const Entry& entry : remembered)
        if (entry.first.lock() == document) return entry.second;
    auto counts = std::make_shared<const analysis::ModelCounts>(
        analysis::countParameters(*document->graph, *document->modules, document->original.get()));
    remembered.emplace_back(document, counts);
    if (remembered.size() > kMaxRemembered) remembered.pop_front();
    return counts;
}

QString storedText(const analysis::StoredSum& sum) {
    if (sum.elements == 0) return QStringLiteral("0");
    return QStringLiteral("%1 (%2 of %3)")
        .arg(countText(sum.elements), QString::fromStdString(analysis::bytesText(sum.bytes)),
             QString::fromStdString(analysis::dtypesText(sum)));
}

}  // namespace sonde::context
