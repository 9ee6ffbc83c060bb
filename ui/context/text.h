#pragma once

#include <QString>

#include <string_view>

namespace sonde::context {

/// UTF-8 of core as Qt has it; bytes that are not UTF-8 become U+FFFD. (Of a std::string, QString::fromStdString is the
/// same.)
inline QString text(std::string_view utf8) {
    return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
}

}  // namespace sonde::context
