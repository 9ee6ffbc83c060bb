#include "core/operators/same_tensor.h"

#include "core/operators/names.h"
#include "core/operators/traits.h"

namespace sonde::operators {

bool mayReturnItsArgument(std::string_view domain, std::string_view operatorName) {
    const Traits& traits = traitsOf(domain, operatorName);
    const std::string_view name = withoutOverload(operatorName);
    return traits.form == ViewForm::Contiguous || traits.form == ViewForm::Converted ||
           traits.opClass == OpClass::Dropout || name == "requires_grad_" || name == "unchecked_cast";
}

}  // namespace sonde::operators
