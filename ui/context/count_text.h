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

}  // namespace sonde::context
