// Names of classes: a line each, or the JSON files that other programs write.

#include <QtTest>

#include "core/session/outputs/class_labels.h"

namespace tst_class_labels {

using namespace sonde::session::outputs;

class TestClassLabels : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void names_data();
    void names();
    void refuses_data();
    void refuses();
};

void TestClassLabels::names_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QStringList>("names");
    const auto row = [](const char* what, const QByteArray& text, const QStringList& names) {
        QTest::newRow(what) << text << names;
    };
    const QStringList pets{"cat", "dog"};
    row("lines", "cat\n dog \n\n", pets);
    row("list", R"(["cat", " dog "])", pets);
    row("list over lines", "\xef\xbb\xbf [\n  \"cat\",\n  \"dog\"\n]\n", pets);
    row("list with escapes", R"(["caf\u00e9", "a \"b\""])", {QStringLiteral("caf\u00e9"), "a \"b\""});
    row("by class", R"({"1": "dog", "0": "cat"})", pets);
    row("by class, not by text",
        R"({"0":"a","1":"b","2":"c","10":"k","9":"j","8":"i","7":"h","6":"g","5":"f","3":"d","4":"e"})",
        {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"});
    row("class left out", R"({"0": "cat", "2": "dog"})", {"cat", "", "dog"});
    row("by name", R"({"dog": 1, "cat": 0})", pets);
    row("Keras", R"({"0": ["n01440764", "tench"], "1": ["n01443537", "goldfish"]})", {"tench", "goldfish"});
    row("list of lists", R"([["n01440764", "tench"], ["n01443537", "goldfish"]])", {"tench", "goldfish"});
    row("transformers",
        R"({"model_type": "vit", "id2label": {"0": "cat", "1": "dog"}, "label2id": {"cat": 0, "dog": 1}})", pets);
    row("a class called so", R"({"id2label": 1, "cat": 0})", {"cat", "id2label"});
    row("brackets in lines", "[background]\n[cat]\n", {"[background]", "[cat]"});
    row("braces in lines", "{cat}\n{dog}\n", {"{cat}", "{dog}"});
}

void TestClassLabels::names() {
    QFETCH(QByteArray, text);
    QFETCH(QStringList, names);
    const auto labels = parseLabels(text.toStdString(), "names");
    QVERIFY2(labels.has_value(), labels ? "" : labels.error().text().c_str());
    QStringList read;
    for (const std::string& name : *labels) read << QString::fromStdString(name);
    QCOMPARE(read, names);
}

void TestClassLabels::refuses_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* what, const QByteArray& text, const char* says) {
        QTest::newRow(what) << text << QString(says);
    };
    row("cut off", R"(["cat", "dog")", "no valid JSON: there is an error at byte 14 (names.json)");
    row("a comma too many", R"(["cat", "dog",])", "no valid JSON");
    row("a number in a list", R"(["cat", 3])", "a name in quotation marks is expected (names.json, name 2)");
    row("an empty list for a name", R"({"0": "cat", "1": []})", R"(expected (names.json, "1"))");
    row("no class", R"({"cat": "dog"})", R"(a key is no class (names.json, "cat"))");
    row("negative", R"({"cat": -1})", R"(a class is not from 0 to 999)");
    row("too large", R"({"4000000000000": "cat"})", R"(a class is not from 0 to 999)");
    row("larger than int64", R"({"cat": 18446744073709551615})", R"(a class is not from 0 to 999)");
    row("no integer", R"({"cat": 0.5})", "a class is no integer");
    row("twice", R"({"cat": 0, "dog": 0})", "class 0 has two names");
    row("two lines", R"(["cat\ndog"])", "a name has a line end or a zero byte");
    row("zero byte", R"(["cat\u0000"])", "a name has a line end or a zero byte");
    row("no names", R"(["", " "])", "the labels file has no name");
    row("long", R"([")" + QByteArray(5000, 'x') + R"("])", "a name is longer than");
    row("nested", R"(["a", )" + QByteArray(200'000, '[') + QByteArray(200'000, ']') + "]", "(names.json, name 2)");
    row("a dictionary of Python", "{0: 'cat', 1: 'dog'}", "JSON or a dictionary");
}

void TestClassLabels::refuses() {
    QFETCH(QByteArray, text);
    QFETCH(QString, says);
    const auto labels = parseLabels(text.toStdString(), "names.json");
    QVERIFY(!labels);
    const QString told = QString::fromStdString(labels.error().text());
    QVERIFY2(told.contains(says), qPrintable(told));
}

QTEST_APPLESS_MAIN(TestClassLabels)

}  // namespace tst_class_labels

#include "tst_class_labels.moc"
