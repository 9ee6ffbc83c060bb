#pragma once

#include "core/session/gradient/complex_form.h"

namespace sonde::session::gradient {

/// Fourier transforms; empty: the operator is none.
ComplexForm::Results fourierForm(ComplexForm& form, std::string_view name);
bool isFourierForm(std::string_view name);

}  // namespace sonde::session::gradient
