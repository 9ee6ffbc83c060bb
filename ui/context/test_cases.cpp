#include "ui/context/test_cases.h"

#include "core/export/plain_form.h"

namespace sonde::context {

TestCases::TestCases(session::TestCases& cases, session::Comparison& comparison)
    : m_of(cases), m_comparison(comparison) {}

void TestCases::run() { m_of.run(exporting::plainForm); }

void TestCases::show(std::size_t index) { m_of.show(index, exporting::plainForm); }

void TestCases::compareWithUnoptimised() { m_comparison.withUnoptimised(exporting::plainForm); }

}  // namespace sonde::context
