// Operators on text: https://onnx.ai/onnx/operators/

#include <QtTest>

#include "core/ops/registry/registry.h"

namespace tst_text_ops {

using namespace sonde;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

base::Result<std::vector<Value>> callOp(std::string_view name, std::vector<std::string> texts,
                                        const tensor::Attributes& attributes, std::stop_token stop = {}) {
    base::ThreadPool pool(1);
    ops::RunEnvironment environment{&pool, std::move(stop), 0, false};
    const ops::OpDef* op = ops::Registry::all().find("", name, 20);
    if (!op) return base::runError("no such operator");
    const Shape shape{static_cast<std::int64_t>(texts.size())};
    const std::vector<Value> inputs{Value(Tensor::ofStrings(shape, std::move(texts)))};
    return ops::call(*op, inputs, attributes, 1, environment, 20);
}

std::vector<std::string> textsOf(const QStringList& list) {
    std::vector<std::string> texts;
    for (const QString& text : list) texts.push_back(text.toStdString());
    return texts;
}

}  // namespace

class TestTextOps : public QObject {
    Q_OBJECT

  private slots:
    /// The examples of ONNX's specification.
    void regexFullMatchTakesWholeTexts() {
        const auto email =
            callOp("RegexFullMatch", {"account@gmail.com", "account@hotmail.com", "not email", "account@yahoo.com"},
                   {{"pattern", std::string(R"((\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$))")}});
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
        const auto refused = callOp("RegexFullMatch", {std::string(1'000'000, 'a')},
                                    {{"pattern", std::string("(?:a|b)*a(?:a|b){900}")}});
        QVERIFY(!refused);
        QVERIFY2(refused.error().what.find("a text of 1000000 bytes is too long for this pattern") != std::string::npos,
                 refused.error().what.c_str());
    }

    /// ONNX Runtime's own tests (string_normalizer_test.cc), and its rule for stop words: compared in the case of the
    /// output.
    void stringNormalizerChangesCase_data() {
        QTest::addColumn<QString>("action");
        QTest::addColumn<QString>("locale");
        QTest::addColumn<QStringList>("stopWords");
        QTest::addColumn<QStringList>("input");
        QTest::addColumn<QStringList>("output");
        const QStringList mixed{
            "monday", "tuesday", "Besançon", "École élémentaire", "Понедельник", "mit freundlichen grüßen", "中文"};
        QTest::newRow("upper")
            << "UPPER"
            << "en_US.UTF-8" << QStringList{"monday"} << mixed
            << QStringList{"TUESDAY", "BESANÇON", "ÉCOLE ÉLÉMENTAIRE", "ПОНЕДЕЛЬНИК", "MIT FREUNDLICHEN GRÜßEN",
                           "中文"};
        QTest::newRow("stop words") << "NONE"
                                    << "" << QStringList{"ПОНЕДЕЛЬНИК", "besanÇon", "MONDAY"} << mixed
                                    << QStringList{"tuesday", "École élémentaire", "mit freundlichen grüßen", "中文"};
        QTest::newRow("final sigma, upper")
            << "UPPER"
            << "" << QStringList{"ΟΔΟΣ"} << QStringList{"οδος", "x"} << QStringList{"X"};
        QTest::newRow("final sigma, lower")
            << "LOWER"
            << "" << QStringList{"ΟΔΟΣ"} << QStringList{"οδος", "X"} << QStringList{"οδος", "x"};
        QTest::newRow("Turkish") << "UPPER"
                                 << "tr_TR.UTF-8" << QStringList() << QStringList{"iyi", "ısı"}
                                 << QStringList{"İYİ", "ISI"};
        QTest::newRow("nothing left") << "LOWER"
                                      << "" << QStringList{"a"} << QStringList{"A", "a"} << QStringList{""};
    }
    void stringNormalizerChangesCase() {
        QFETCH(QString, action);
        QFETCH(QString, locale);
        QFETCH(QStringList, stopWords);
        QFETCH(QStringList, input);
        QFETCH(QStringList, output);
        const auto result = callOp("StringNormalizer", textsOf(input),
                                   {{"case_change_action", action.toStdString()},
                                    {"locale", locale.toStdString()},
                                    {"stopwords", textsOf(stopWords)}});
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        const auto texts = result->front().tensor().strings();
        QCOMPARE(std::vector<std::string>(texts.begin(), texts.end()), textsOf(output));
    }
    void stringNormalizerRefusesOtherActions() {
        QVERIFY(!callOp("StringNormalizer", {"a"}, {{"case_change_action", std::string("TITLE")}}));
    }

    /// The white space of Python's str.split(), of which ONNX's reference is made; the last part has none at its end.
    void stringSplitTakesWhiteSpaceOfUnicode() {
        const auto all = callOp("StringSplit", {" a\u3000b \u00a0c\t", "", "é"}, {});
        QVERIFY(all.has_value());
        const auto texts = all->front().tensor().strings();
        QCOMPARE(all->front().tensor().shape().text(), std::string("[3,3]"));
        QCOMPARE(std::vector<std::string>(texts.begin(), texts.end()),
                 (std::vector<std::string>{"a", "b", "c", "", "", "", "é", "", ""}));
        const auto once = callOp("StringSplit", {" a  b  c  "}, {{"maxsplit", std::int64_t{1}}});
        const auto parts = once->front().tensor().strings();
        QCOMPARE(std::vector<std::string>(parts.begin(), parts.end()), (std::vector<std::string>{"a", "b  c"}));
    }
};

QTEST_APPLESS_MAIN(TestTextOps)

}  // namespace tst_text_ops

#include "tst_text_ops.moc"
