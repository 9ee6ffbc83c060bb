// Operators on text: https://onnx.ai/onnx/operators/

#include <QtTest>

#include "core/ops/registry/registry.h"

using namespace sonde;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

base::Result<std::vector<Value>> callOp(std::string_view name, std::vector<std::string> texts, const tensor::Attributes& attributes, std::stop_token stop = {}) {
    base::ThreadPool pool(1);
    ops::RunEnvironment environment{&pool, std::move(stop), 0, false};
    const ops::OpDef* op = ops::Registry::all().find("", name, 20);
    if (!op) return base::runError("no such operator");
    const Shape shape{static_cast<std::int64_t>(texts.size())};
    const std::vector<Value> inputs{Value(Tensor::ofStrings(shape, std::move(texts)))};
    return ops::call(*op, inputs, attributes, 1, environment, 20);
}

}  // namespace

class TestTextOps : public QObject {
    Q_OBJECT

  private slots:
    /// The examples of ONNX's specification.
    void regexFullMatchTakesWholeTexts() {
        const auto email = callOp("RegexFullMatch", {"account@gmail.com", "account@hotmail.com", "not email", "account@yahoo.com"}, {{"pattern", std::string(R"((\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$))")}});
        QVERIFY2(email.has_value(), email ? "" : email.error().text().c_str());
        const auto bools = email->front().tensor().span<bool>();
        QVERIFY(std::ranges::equal(bools, std::vector<bool>{true, false, false, true}));
        const auto wrong = callOp("RegexFullMatch", {"a"}, {{"pattern", std::string("(?<=a)")}});
        QVERIFY(!wrong && wrong.error().what.find("invalid regular expression: ") != std::string::npos);
    }

    /// A match cannot be interrupted: it is not begun when the run was cancelled or when it could take minutes.
    void regexFullMatchStaysCancellable() {
        std::stop_source source;
        source.request_stop();
        const auto cancelled = callOp("RegexFullMatch", {"a"}, {{"pattern", std::string("a")}}, source.get_token());
        QVERIFY(!cancelled && cancelled.error().kind == base::ErrorKind::Cancelled);
        const auto refused = callOp("RegexFullMatch", {std::string(1'000'000, 'a')}, {{"pattern", std::string("(?:a|b)*a(?:a|b){900}")}});
        QVERIFY(!refused);
        QVERIFY2(refused.error().what.find("a text of 1000000 bytes is too long for this pattern") != std::string::npos, refused.error().what.c_str());
    }
};

QTEST_APPLESS_MAIN(TestTextOps)
#include "tst_text_ops.moc"
