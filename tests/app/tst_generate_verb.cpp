// `sonde generate`, the real program, on the sample that completes words: what it says next is what PyTorch's logits in
// resources/samples/words/test/logits.txt say.

#include <QJsonArray>
#include <QtTest>

#include "tests/support/run_sonde.h"

namespace tst_generate_verb {

using namespace sonde::test;

class TestGenerateVerb : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void itSaysWhatPyTorchSays_data();
    void itSaysWhatPyTorchSays();
    void idsTakeThePlaceOfText();
    void aTextEndsAtItsEndToken();
    void whereTheModelFailsTheTextStays();
    void errorsSayWhatIsMissing_data();
    void errorsSayWhatIsMissing();

  private:
    static QString words() { return QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/words/words.onnx"); }
};

void TestGenerateVerb::itSaysWhatPyTorchSays_data() {
    QTest::addColumn<QString>("next");
    QTest::addColumn<double>("probability");  // softmax of the line in logits.txt, by numpy
    QTest::newRow("i") << "n" << 0.717285;
    QTest::newRow("transformatio") << "n" << 0.971271;
}

void TestGenerateVerb::itSaysWhatPyTorchSays() {
    QFETCH(QString, next);
    QFETCH(double, probability);
    const QString prompt = QLatin1String(QTest::currentDataTag());
    const Outcome result = runSonde({"generate", words(), "--prompt", prompt, "--tokens", "1", "--json"});
    QVERIFY2(result.status == 0, qPrintable(result.err));
    const QJsonObject object = QJsonDocument::fromJson(result.out.toUtf8()).object();
    QCOMPARE(object["text"].toString(), prompt + next);
    QCOMPARE(object["fed"].toArray().size(), 0);
    const QJsonObject token = object["tokens"].toArray().first().toObject();
    QCOMPARE(token["text"].toString(), next);
    QVERIFY2(qAbs(token["probability"].toDouble() - probability) < 1e-4, qPrintable(result.out));
}

void TestGenerateVerb::idsTakeThePlaceOfText() {
    const Outcome text = runSonde({"generate", words(), "--prompt", "in", "--tokens", "5"});
    const Outcome ids = runSonde({"generate", words(), "--ids", "9,14", "--tokens", "5"});
    QVERIFY2(text.status == 0 && ids.status == 0, qPrintable(text.err + ids.err));
    QCOMPARE(ids.out, text.out);
    QVERIFY2(text.out.startsWith("in") && text.out.trimmed().size() == 7, qPrintable(text.out));
    QVERIFY2(text.err.contains("5 tokens after 2 tokens"), qPrintable(text.err));
    // Drawn tokens are those of their seed.
    const QStringList drawn{"generate", words(), "--prompt", "in", "--tokens", "12", "--temperature", "1.5", "--seed"};
    const Outcome one = runSonde(drawn + QStringList{"1"});
    QCOMPARE(runSonde(drawn + QStringList{"1"}).out, one.out);
    QVERIFY(runSonde(drawn + QStringList{"2"}).out != one.out);
}

void TestGenerateVerb::aTextEndsAtItsEndToken() {
    const Outcome result = runSonde({"generate", words(), "--prompt", "transformatio", "--end", "."});
    QVERIFY2(result.status == 0, qPrintable(result.err));
    QVERIFY2(result.out.startsWith("transformation") && result.out.trimmed().endsWith('.'), qPrintable(result.out));
    QVERIFY2(result.err.contains("the end token came"), qPrintable(result.err));
}

/// The model has 32 positions.
void TestGenerateVerb::whereTheModelFailsTheTextStays() {
    const Outcome result = runSonde({"generate", words(), "--prompt", "in", "--tokens", "100"});
    QCOMPARE(result.status, 4);
    QCOMPARE(result.out.trimmed().size(), 33);
    QVERIFY2(result.err.contains("sonde: "), qPrintable(result.err));
}

void TestGenerateVerb::errorsSayWhatIsMissing_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("message");
    QTest::newRow("no prompt") << QStringList{words()} << "either --prompt or --ids is needed";
    QTest::newRow("no ids") << QStringList{"zoo:resnet18", "--ids", "1"} << "no input of the model takes token ids";
    QTest::newRow("no tokenizer") << QStringList{"zoo:gpt_mini", "--prompt", "a"} << "--tokenizer";
    QTest::newRow("end") << QStringList{words(), "--prompt", "in", "--end", "??"} << "neither an id nor a token";
    for (const char* const ids : {"", "9,,14", "9,", "-1", "99999999999999999999", "a", "1.5"})
        QTest::addRow("ids '%s'", ids) << QStringList{words(), "--ids", ids} << "is not a token id (--ids)";
    QTest::newRow("top") << QStringList{words(), "--ids", "9", "--top", "-1"} << "'-1' is not an integer from 0 on";
    QTest::newRow("end beyond the tokens") << QStringList{words(), "--ids", "9", "--end", "5000"} << "(--end)";
    QTest::newRow("end below them") << QStringList{words(), "--ids", "9", "--end", "-1"} << "neither an id nor a token";
    for (const char* const number : {"-1", "nan", "inf"})
        QTest::addRow("temperature %s", number)
            << QStringList{words(), "--prompt", "in", "--temperature", number} << "is no temperature (0 or above)";
    QTest::newRow("feed") << QStringList{words(), "--prompt", "in", "--feed", "a"} << "is not OUTPUT=INPUT";
}

void TestGenerateVerb::errorsSayWhatIsMissing() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, message);
    const Outcome result = runSonde(QStringList{"generate"} + arguments);
    QCOMPARE(result.status, 2);
    QVERIFY2(result.err.contains(message), qPrintable(result.err));
}

QTEST_GUILESS_MAIN(TestGenerateVerb)

}  // namespace tst_generate_verb

#include "tst_generate_verb.moc"
