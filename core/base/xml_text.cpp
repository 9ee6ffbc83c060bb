#include "core/base/xml_text.h"

#include "core/base/visible_text.h"

namespace sonde::base {

std::string xmlText(std::string_view text) {
    std::string escaped;
    for (const char c : visibleText(text)) {
        switch (c) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            default: escaped += c;
        }
    }
    return escaped;
}

}  // namespace sonde::base
