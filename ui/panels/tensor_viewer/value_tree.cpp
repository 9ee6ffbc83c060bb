#include "ui/panels/tensor_viewer/value_tree.h"

#include <QVariant>

Q_DECLARE_METATYPE(sonde::tensor::Tensor)

namespace sonde::panels {
namespace {

constexpr std::size_t kMaxEntries = 1000;
constexpr int kMaxDepth = 32;
constexpr int kMaxTreeRows = 20'000;  ///< in all: thirty pairs of pairs are a billion
constexpr int kTensorRole = Qt::UserRole;
constexpr int kPathRole = Qt::UserRole + 1;

void addRow(QTreeWidgetItem* parent, const QString& name, const QString& path, const tensor::Value& value, int depth,
            int& rows);

void addRest(QTreeWidgetItem* parent, std::size_t count) {
    if (count <= kMaxEntries) return;
    auto* row = new QTreeWidgetItem(parent, {QObject::tr("+%1 more").arg(count - kMaxEntries)});
    row->setFlags(Qt::ItemIsEnabled);
}

void addParts(QTreeWidgetItem* parent, const QString& path, const tensor::Value& value, int depth, int& rows) {
    // A container of the scripting language may hold itself.
    if (depth > kMaxDepth) return;
    if (value.isListLike()) {
        const auto& items = value.items();
        for (std::size_t i = 0; i < std::min(items.size(), kMaxEntries); ++i) {
            const QString name = QStringLiteral("[%1]").arg(i);
            addRow(parent, name, path + name, items[i], depth, rows);
        }
        addRest(parent, items.size());
    } else if (value.kind() == tensor::ValueKind::Dict) {
        const auto& items = value.dictItems();
        for (std::size_t i = 0; i < std::min(items.size(), kMaxEntries); ++i) {
            const QString name = QStringLiteral("[%1]").arg(QString::fromStdString(items[i].first.text(60)));
            addRow(parent, name, path + name, items[i].second, depth, rows);
        }
        addRest(parent, items.size());
    }
}

void addRow(QTreeWidgetItem* parent, const QString& name, const QString& path, const tensor::Value& value, int depth,
            int& rows) {
    if (++rows > kMaxTreeRows) return;
    const bool container = value.isListLike() || value.kind() == tensor::ValueKind::Dict;
    const QString text = container ? QString() : QString::fromStdString(value.text(120));
    auto* row = new QTreeWidgetItem(parent, {name, QString::fromStdString(value.typeText()), text});
    row->setData(0, kPathRole, path);
    if (value.isTensor()) row->setData(0, kTensorRole, QVariant::fromValue(value.tensor()));
    addParts(row, path, value, depth + 1, rows);
}

}  // namespace

void fillValueTree(QTreeWidget& tree, const tensor::Value& value) {
    tree.clear();
    int rows = 0;
    addRow(tree.invisibleRootItem(), QObject::tr("value"), {}, value, 0, rows);
    if (rows > kMaxTreeRows)
        new QTreeWidgetItem(tree.invisibleRootItem(),
                            {QObject::tr("only the first %1 parts are listed").arg(kMaxTreeRows)});
    tree.expandToDepth(1);
    for (int column = 0; column < 2; ++column) tree.resizeColumnToContents(column);
}

tensor::Tensor tensorOfRow(const QTreeWidgetItem& row) { return row.data(0, kTensorRole).value<tensor::Tensor>(); }
QString pathOfRow(const QTreeWidgetItem& row) { return row.data(0, kPathRole).toString(); }

QTreeWidgetItem* firstTensorRow(QTreeWidgetItem* root) {
    if (!root) return nullptr;
    if (tensorOfRow(*root).defined()) return root;
    for (int i = 0; i < root->childCount(); ++i)
        if (QTreeWidgetItem* found = firstTensorRow(root->child(i))) return found;
    return nullptr;
}

}  // namespace sonde::panels
