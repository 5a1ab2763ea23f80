// Package lerobot makes a LeRobotDataset v3.0 of the episodes in recordings.
//
//	Open      a recording: its episodes by their marks
//	Recording reads them one by one: what was asked, sent and measured in each cycle, and the pictures
//	Dataset   frames at a true rate, as Parquet files with their metadata
//
// A data set is written beside its folder, which it becomes when it is whole.
package lerobot
