#include "core/operators/moved_elements.h"

#include "core/operators/tables.h"

namespace sonde::operators {

bool onlyMovesElements(std::string_view domain, std::string_view operatorName) {
    return isSpecial(domain, operatorName, Special::OnlyMovesElements);
}

bool movesElementsOf(std::string_view domain, std::string_view operatorName, std::size_t input) {
    if (!onlyMovesElements(domain, operatorName)) return false;
    const InputRole role = traitsOf(domain, operatorName).inputRole(input);
    return role != InputRole::Data && role != InputRole::Unsaid;
}

}  // namespace sonde::operators
