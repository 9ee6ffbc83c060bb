#pragma once

#include <QString>

#include <concepts>

#include "core/base/count_text.h"

namespace sonde::context {

/// A count as it stands everywhere in the window: "1,048,576".
template <std::integral Count>
QString countText(Count count) {
    return QString::fromStdString(base::countText(static_cast<std::int64_t>(count)));
}

/// A count with what is counted: `one`, "1 node", or `many` with the count in place of %1, "%1 nodes".
template <std::integral Count>
QString countedText(Count count, const QString& one, const QString& many) {
    return count == 1 ? one : many.arg(countText(count));
}

}  // namespace sonde::context
