#pragma once

#include <QTreeWidget>

#include "core/tensor/value.h"

namespace sonde::panels {

/// Fills a tree with the parts of a value: "[0]", "['mask']" and so on with their types and texts. Long lists stop
/// after a thousand entries with a row that counts the rest.
void fillValueTree(QTreeWidget& tree, const tensor::Value& value);

/// The tensor that a row stands for, with its path inside the value ("[0]['mask']"); undefined for other rows.
tensor::Tensor tensorOfRow(const QTreeWidgetItem& row);
QString pathOfRow(const QTreeWidgetItem& row);

/// The first row below `root` that stands for a tensor; null if there is none.
QTreeWidgetItem* firstTensorRow(QTreeWidgetItem* root);

}  // namespace sonde::panels
