#include "core/base/exception_text.h"

#include "core/base/visible_text.h"

namespace sonde::base {

std::string exceptionText(const std::exception& exception, std::string_view fallback) {
    const char* const text = exception.what();
    return text && *text ? visibleText(text) : std::string(fallback);
}

}  // namespace sonde::base
