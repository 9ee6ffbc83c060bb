#include "core/base/exception_text.h"

#include "core/base/unicode.h"
#include "core/base/visible_text.h"

namespace sonde::base {

std::string thrownText(std::string_view text) {
    const std::string_view shown = utf8Prefix(text, kMaxThrownText);
    if (shown.size() == text.size()) return visibleText(text);
    return visibleText(shown) + " … (" + std::to_string(text.size() - shown.size()) + " of " +
           std::to_string(text.size()) + " bytes are left out)";
}

std::string exceptionText(const std::exception& exception, std::string_view fallback) {
    const char* const text = exception.what();
    return text && *text ? thrownText(text) : std::string(fallback);
}

}  // namespace sonde::base
